import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

describe('commands that end', () => {
  let server: TestServer;
  beforeAll(() => {
    server = startServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('the observation has exactly the keys that a client knows', async () => {
    const observation = await server.run('echo hello');
    const { metadata } = observation.extras;
    expect(observation).toEqual({
      observation: 'run',
      content: 'hello',
      extras: {
        command: 'echo hello',
        hidden: false,
        metadata: {
          exit_code: 0,
          pid: -1,
          username: userInfo().username,
          hostname: hostname().split('.')[0],
          working_dir: server.directory,
          py_interpreter_path: expect.any(String),
          prefix: '',
          suffix: '\n[The command ended with exit code 0.]',
        },
      },
      success: true,
      message: expect.stringContaining('exit code 0'),
    });
    expect(metadata.py_interpreter_path).toMatch(/^$|\/python$/);
  });

  test('a failure is a result: its code is in the metadata and in the suffix', async () => {
    const { success, extras } = await server.run('(exit 7)');
    expect(success).toBe(false);
    expect(extras.metadata.exit_code).toBe(7);
    expect(extras.metadata.suffix).toBe('\n[The command ended with exit code 7.]');
  });

  test('$? is that of the command before, for codes of every kind', async () => {
    for (const code of [0, 1, 2, 130]) {
      await server.run(`(exit ${code})`);
      expect((await server.run('echo $?')).content).toBe(String(code));
    }
  });

  test('each observation is that of its own command, however fast they follow each other', async () => {
    for (let number = 0; number < 60; number++) {
      const { content, extras } = await server.run(number % 2 ? `echo ${number}` : `(exit ${number})`);
      expect([content, extras.metadata.exit_code]).toEqual(number % 2 ? [`${number}`, 0] : ['', number]);
    }
  });

  test('variables, functions, directory and options stay', async () => {
    await server.run('mkdir -p sub && cd sub && export COLOUR=blue && greet() { echo "hi $1"; }');
    const { content, extras } = await server.run('greet $COLOUR');
    expect(content).toBe('hi blue');
    expect(extras.metadata.working_dir).toBe(server.path('sub'));
    await server.run('cd ..');
  });

  test('a directory with quotes and backslashes in its name is reported as it is', async () => {
    const name = 'a "b" \\ c';
    const { extras } = await server.run(`mkdir -p '${name}' && cd '${name}'`);
    expect(extras.metadata).toMatchObject({ exit_code: 0, working_dir: server.path(name) });
    expect((await server.run('false')).extras.metadata.exit_code).toBe(1);
    await server.run('cd ..');
  });

  test('pid is that of the last background job', async () => {
    const { content, extras } = await server.run('sleep 30 & echo $!');
    expect(extras.metadata.pid).toBe(Number(/\d+$/.exec(content)?.[0]));
    await server.run('kill $!; wait 2>/dev/null');
  });

  test('the interpreter follows PATH', async () => {
    const shim = server.path('bin');
    await server.run(`mkdir -p ${shim} && printf '' > ${shim}/python && chmod +x ${shim}/python`);
    const { extras } = await server.run(`OLD=$PATH; PATH=${shim}:$PATH`);
    expect(extras.metadata.py_interpreter_path).toBe(`${shim}/python`);
    const without = await server.run('PATH=/nowhere');
    expect(without.extras.metadata.py_interpreter_path).toBe('');
    await server.run('PATH=$OLD');
  });

  test('tracing and errexit neither show the prompt nor end the shell', async () => {
    const traced = await server.run('set -x; TRACED=1');
    expect(traced.extras.metadata.username).toBe(userInfo().username);
    expect((await server.run('true')).content).toMatch(/^\++ true$/);
    await server.run('set +x; set -e; PATH_BEFORE=$PATH; PATH=/nowhere');
    expect((await server.run(':')).extras.metadata.py_interpreter_path).toBe('');
    await server.run('PATH=$PATH_BEFORE');
    expect((await server.run('echo $TRACED; set +e')).content).toBe('1');
  });

  test('output that leads elsewhere gets nothing of the prompt', async () => {
    const { extras } = await server.run('exec 7>&1 >diverted; echo kept');
    expect(extras.metadata).toMatchObject({ exit_code: 0, username: userInfo().username });
    await server.run('exec >&7 7>&-');
    expect(readFileSync(server.path('diverted'), 'utf8')).toBe('kept\n');
  });

  test('the shell that ends is replaced, and the observation says so', async () => {
    await server.run('LOST=1; cd /');
    const ended = await server.run('exit 3');
    expect(ended.extras.metadata).toMatchObject({ exit_code: 3, working_dir: '/' });
    expect(ended.extras.metadata.suffix).toMatch(/exit code 3\.\]\n\[The shell ended/);
    const next = await server.run('echo "[$LOST]"; pwd');
    expect(next.content).toBe('[]\n/');
    expect(next.extras.metadata.suffix).toBe('\n[The command ended with exit code 0.]');
    await server.run(`cd ${server.directory}`);
  });

  test('what a background program prints later comes with the next command', async () => {
    await server.run('(until [ -e go ]; do sleep 0.05; done; echo later) &');
    const { content } = await server.run('touch go; wait; echo now');
    expect(content).toMatch(/later/);
    expect(content).toMatch(/now$/);
  });

  test('content is trimmed at both ends and keeps tabs within', async () => {
    expect((await server.run(`printf '\\n\\n  a\\tb\\n\\n'`)).content).toBe('a\tb');
  });

  test('long output keeps 15,000 characters at each end; hidden output is whole', async () => {
    const command = 'seq 1 20000';
    const { content } = await server.run(command);
    expect(content.length).toBeGreaterThan(30_000);
    expect(content.length).toBeLessThan(30_200);
    expect(content.startsWith('1\n2\n3\n')).toBe(true);
    expect(content.endsWith('19999\n20000')).toBe(true);
    expect(content.slice(15_000, -15_000)).toMatch(/^\n\[.*\]\n$/);
    const hidden = await server.run(command, { hidden: true });
    expect(hidden.extras.hidden).toBe(true);
    expect(hidden.content.split('\n')).toHaveLength(20_000);
  });

  test('output far beyond the budget is cut in the same form', async () => {
    const { content } = await server.run('yes 0123456789abcdef | head -c 8000000');
    expect(content.slice(15_000, -15_000)).toMatch(/^\n\[[^\n]*\]\n$/);
  });
});

describe('the single-command rule', () => {
  let server: TestServer;
  beforeAll(() => {
    server = startServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('several lines are refused and listed by number', async () => {
    const observation = await server.run('touch one\ntouch two');
    expect(observation.observation).toBe('error');
    expect(observation.extras).toEqual({ error_id: '' });
    expect(observation.content).toMatch(/Several commands/);
    expect(observation.content).toMatch(/\(1\) touch one\n\(2\) touch two$/);
    expect((await server.run('ls')).content).toBe('');
  });

  test.each([
    ['joined by ;', 'echo a; echo b', 'a\nb'],
    ['joined by &&', 'echo a &&\n echo b', 'a\nb'],
    ['a loop', 'for i in 1 2\ndo\n  echo $i\ndone', '1\n2'],
    ['a here-document', 'cat <<EOF\nx\n$((1+1))\nEOF', 'x\n2'],
    ['a continued line', 'echo a \\\n  b', 'a b'],
    ['a continued line after ;', 'echo a; \\\n echo b', 'a\nb'],
    ['a quote of several lines', "echo 'a\nb'", 'a\nb'],
    ['a comment before it', '# why\necho a', 'a'],
    ['a comment after it', 'echo a\n# why', 'a'],
    ['escaped operators', 'echo a\\;b\\&c\\|d\\>e\\<f', 'a;b&c|d>e<f'],
  ])('%s is one command', async (_name, command, content) => {
    const observation = await server.run(command);
    expect(observation.content).toBe(content);
    expect(observation.extras.metadata.exit_code).toBe(0);
    expect(observation.extras.command).toBe(command);
  });

  test('what does not parse is left to the shell, which goes on', async () => {
    const { extras } = await server.run('echo "never closed');
    expect(extras.metadata.exit_code).not.toBe(0);
    expect((await server.run('echo fine')).content).toBe('fine');
  });
});

describe('commands that go on', () => {
  let server: TestServer;
  beforeAll(() => {
    server = startServer({ noChangeSeconds: 0.4 });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('nothing runs: there is nothing to fetch and nothing to talk to', async () => {
    for (const [args, words] of [
      [{ command: '  ' }, /no further output to fetch/],
      [{ command: 'x', is_input: true }, /could take this input/],
      [{ command: 'C-c', is_input: true }, /could take this input/],
    ] as const) {
      const observation = await server.act('run', args);
      expect(observation).toMatchObject({ observation: 'run', success: false });
      expect(observation.extras).toMatchObject({ command: '', metadata: { exit_code: -1, suffix: '' } });
      expect(observation.content).toMatch(words);
    }
  });

  test('quiet for the soft timeout: handed back, then refusing others, then ended by C-c', async () => {
    const first = await server.run('echo begin; sleep 60');
    expect(first.content).toBe('begin');
    expect(first.success).toBe(false);
    expect(first.extras.metadata).toEqual({
      exit_code: -1,
      pid: -1,
      username: null,
      hostname: null,
      working_dir: null,
      py_interpreter_path: null,
      prefix: '',
      suffix: expect.stringMatching(/^\n\[No new output for 0\.4 seconds; .*\]$/),
    });

    const refused = await server.run('echo other');
    expect(refused.content).toBe('');
    expect(refused.extras.command).toBe('echo other');
    expect(refused.extras.metadata).toMatchObject({
      exit_code: -1,
      prefix: '[This is output of the previous command.]\n',
      suffix: expect.stringMatching(/^\n\["echo other" was not executed/),
    });

    const more = await server.run('');
    expect(more.content).toBe('');
    expect(more.extras).toMatchObject({
      command: '',
      metadata: { prefix: '[This is output of the previous command.]\n', exit_code: -1 },
    });

    const stopped = await server.run('C-c', { is_input: true });
    expect(stopped.extras.metadata).toMatchObject({
      exit_code: 130,
      prefix: '',
      suffix: '\n[CTRL+C was sent; the command ended with exit code 130.]',
      working_dir: server.directory,
    });
    expect((await server.run('echo after')).content).toBe('after');
  });

  test('the hard timeout hands back too, says the time as a float, and kills nothing', async () => {
    const first = await server.run('while [ ! -e stop ]; do echo tick; sleep 0.05; done; echo end', {}, 1.5);
    expect(first.extras.metadata.suffix).toMatch(
      /^\n\[The command timed out after 1\.5 seconds and still runs/,
    );
    expect(first.extras.metadata.exit_code).toBe(-1);
    expect(first.content).toMatch(/^tick(\ntick)+$/);
    const second = await server.run('', {}, 1);
    expect(second.extras.metadata.suffix).toMatch(/timed out after 1\.0 seconds/);
    await server.run('touch stop', { is_static: true });
    const last = await server.run('');
    expect(last.content).toMatch(/^(tick\n)*end$/);
    expect(last.extras.metadata).toMatchObject({ exit_code: 0, prefix: '' });
  });

  test('blocking switches the soft timeout off', async () => {
    const { content, extras } = await server.run('sleep 1; echo done', { blocking: true }, 20);
    expect(content).toBe('done');
    expect(extras.metadata.exit_code).toBe(0);
  });

  test('input reaches the program, and its echo is not content', async () => {
    const asked = await server.run('read -p "name? " name; echo "hello $name"');
    expect(asked.content).toBe('name?');
    const answered = await server.run('Ada', { is_input: true });
    expect(answered.content).toBe('hello Ada');
    expect(answered.extras.metadata).toMatchObject({ exit_code: 0, prefix: '' });
  });

  test('input may have several lines', async () => {
    await server.run('cat > typed');
    await server.run('one\ntwo', { is_input: true });
    const { extras } = await server.run('C-d', { is_input: true });
    expect(extras.metadata).toMatchObject({ exit_code: 0, suffix: expect.stringMatching(/CTRL\+D/) });
    expect(readFileSync(server.path('typed'), 'utf8')).toBe('one\ntwo\n');
  });

  test('the rest of a command that ended unseen comes with the next one', async () => {
    await server.run('while [ ! -e go ]; do sleep 0.02; done; echo rest; touch gone');
    await server.run('touch go; while [ ! -e gone ]; do sleep 0.02; done; sleep 0.1', { is_static: true });
    const { content, extras } = await server.run('echo next');
    expect(content).toBe('rest\nnext');
    expect(extras.metadata).toMatchObject({ exit_code: 0, prefix: '' });
  });

  test('a key at the prompt ends nothing', async () => {
    const interrupted = await server.run('C-c');
    expect(interrupted.extras.metadata).toMatchObject({ exit_code: 130, working_dir: server.directory });
    const ended = await server.run('C-d');
    expect(ended.extras.metadata.suffix).toMatch(/CTRL\+D was sent/);
    expect((await server.run('echo still here')).content).toBe('still here');
  });
});

describe('is_static', () => {
  test('runs in a shell of its own, in the given directory, which is gone afterwards', async () => {
    await using server = startServer();
    await server.run('MARK=shared; mkdir there');
    const { content, extras } = await server.run('echo "[$MARK]"; pwd', {
      is_static: true,
      cwd: server.path('there'),
    });
    expect(content).toBe(`[]\n${server.path('there')}`);
    expect(extras.metadata.working_dir).toBe(server.path('there'));
    expect((await server.run('pwd', { is_static: true })).content).toBe(server.directory);
    expect((await server.run('echo $MARK; pwd')).content).toBe(`shared\n${server.directory}`);
    const missing = await server.run('pwd', { is_static: true, cwd: '/does/not/exist' });
    expect(missing.observation).toBe('error');
  });
});
