import { expect } from '../expect.js';
import {
  type Behaviours,
  begin,
  countProcesses,
  eventually,
  finish,
  refusal,
  sh,
  uniqueWord,
} from '../given.js';

export const shellBehaviours: Behaviours = {
  'shell.exit-code': async ({ runtime }) => {
    const result = await runtime.run('echo hello');
    expect(result).toMatchObject({
      observation: 'run',
      command: 'echo hello',
      output: 'hello\n',
      exitCode: 0,
      signal: null,
      endedBy: 'exit',
      cwd: runtime.workspace,
      session: 'default',
      truncated: false,
    });
    expect(result.durationMs).toBeGreaterThanOrEqual(0);
  },

  'shell.failure-is-result': async ({ runtime }) => {
    expect(await runtime.run('false')).toMatchObject({ exitCode: 1, endedBy: 'exit' });
    expect(await runtime.run('(exit 42)')).toMatchObject({ exitCode: 42, endedBy: 'exit' });
    const missing = await runtime.run('no-such-program-anywhere');
    expect(missing).toMatchObject({ exitCode: 127, endedBy: 'exit' });
    expect(missing.output).toContain('no-such-program-anywhere');
  },

  'shell.multi-line': async ({ runtime }) => {
    expect(await sh(runtime, 'for n in 1 2 3\ndo\n  echo "n=$n"\ndone\n\necho last')).toBe(
      'n=1\nn=2\nn=3\nlast\n',
    );
    expect(await sh(runtime, 'echo one \\\n  two')).toBe('one two\n');
  },

  'shell.heredoc': async ({ runtime }) => {
    const text = 'a "quoted" line\n\t$HOME `date` \\n\n  é ✓\n';
    await sh(runtime, `cat > heredoc.txt <<'END'\n${text}END`);
    expect((await runtime.read('heredoc.txt')).content).toBe(text);
    expect(await sh(runtime, 'name=x; cat <<END\nname is $name\nEND')).toBe('name is x\n');
  },

  'shell.syntax-error': async ({ runtime }) => {
    for (const command of [
      'echo "unclosed',
      "echo 'unclosed",
      'echo $(unclosed',
      'if true',
      '(',
      ')',
      'echo $((1+',
      '}',
    ]) {
      const result = await runtime.run(command, { timeoutMs: 10_000 });
      expect(result, command).toMatchObject({ endedBy: 'exit' });
      expect(result.exitCode, command).not.toBe(0);
      expect(await sh(runtime, 'echo still here'), `after ${command}`).toBe('still here\n');
    }
    // Bash takes the end of its input for the end of the document.
    expect((await runtime.run('cat <<END\nunclosed', { timeoutMs: 10_000 })).endedBy).toBe('exit');
    expect(await sh(runtime, 'echo still here')).toBe('still here\n');
    expect((await runtime.run('echo trailing \\', { timeoutMs: 10_000 })).endedBy).toBe('exit');
    expect(await sh(runtime, 'echo still here')).toBe('still here\n');
  },

  'shell.comment': async ({ runtime }) => {
    expect(await sh(runtime, '# nothing but a comment')).toBe('');
    expect(await sh(runtime, 'echo before # and a comment')).toBe('before\n');
    expect(await sh(runtime, '# first\necho second')).toBe('second\n');
  },

  'shell.background': async ({ runtime }) => {
    const word = uniqueWord();
    const result = await runtime.run(`bash -c 'exec -a ${word} sleep 1000' &`, { timeoutMs: 20_000 });
    expect(result).toMatchObject({ exitCode: 0, endedBy: 'exit' });
    await eventually(async () => (await countProcesses(runtime, word)) === 1, 'the job runs');
    await sh(runtime, 'kill %1; wait %1 2>/dev/null; true');
    await eventually(async () => (await countProcesses(runtime, word)) === 0, 'the job is gone');
  },

  'shell.exit': async ({ runtime }) => {
    await sh(runtime, 'kept=yes; cd /');
    expect(await runtime.run('echo bye; exit 7')).toMatchObject({
      output: 'bye\n',
      exitCode: 7,
      endedBy: 'exit',
    });
    const next = await runtime.run('echo "kept=$kept"');
    expect(next).toMatchObject({ output: 'kept=\n', exitCode: 0 });
    expect(next.notice).toMatch(/shell/i);
    expect((await runtime.run('true')).notice).toBeUndefined();
  },

  'shell.set-e': async ({ runtime }) => {
    await runtime.run('set -e');
    expect(await runtime.run('! true')).toMatchObject({ exitCode: 1, endedBy: 'exit' });
    expect((await runtime.run('echo $?')).output).toBe('1\n');
    expect((await runtime.run('set +e; echo here')).notice).toBeUndefined();
    expect(await sh(runtime, 'set -e; echo strict')).toBe('strict\n');
    expect(await runtime.run('echo before; false; echo after')).toMatchObject({
      output: 'before\n',
      exitCode: 1,
    });
    expect(await sh(runtime, 'echo works')).toBe('works\n');
  },

  'shell.set-x': async ({ runtime }) => {
    await runtime.run('set -x');
    expect(await sh(runtime, 'echo traced')).toMatch(/^\++ echo traced\ntraced\n$/);
    await runtime.run('set +x');
    expect(await sh(runtime, 'echo quiet')).toBe('quiet\n');
  },

  'shell.exec': async ({ runtime }) => {
    expect(await runtime.run('exec echo replaced')).toMatchObject({
      output: 'replaced\n',
      exitCode: 0,
      endedBy: 'exit',
    });
    const next = await runtime.run('echo fresh');
    expect(next).toMatchObject({ output: 'fresh\n', exitCode: 0 });
    expect(next.notice).toMatch(/shell/i);
  },

  'shell.exec-redirect': async ({ runtime }) => {
    expect(await runtime.run('exec >captured.txt 2>&1 </dev/null')).toMatchObject({
      exitCode: 0,
      endedBy: 'exit',
    });
    expect(await runtime.run('echo into the file; (exit 3)', { timeoutMs: 20_000 })).toMatchObject({
      output: '',
      exitCode: 3,
      endedBy: 'exit',
    });
    expect((await runtime.read('captured.txt')).content).toBe('into the file\n');
  },

  'shell.cd': async ({ runtime }) => {
    await runtime.files.makeDir('deep/er');
    expect((await runtime.run('cd deep/er')).cwd).toBe(`${runtime.workspace}/deep/er`);
    expect(await sh(runtime, 'pwd')).toBe(`${runtime.workspace}/deep/er\n`);
    expect((await runtime.run('cd "$OLDPWD"')).cwd).toBe(runtime.workspace);
    expect((await runtime.run('(cd deep)')).cwd).toBe(runtime.workspace);
  },

  'shell.state': async ({ runtime }) => {
    await sh(runtime, 'plain=1; export exported=2; list=(a b); greet() { echo "hi $1"; }');
    await sh(runtime, 'shopt -s extglob expand_aliases; alias shout="echo LOUD"');
    expect(await sh(runtime, 'echo "$plain ${list[1]}"; bash -c \'echo "$exported"\'; greet you')).toBe(
      '1 b\n2\nhi you\n',
    );
    expect(await sh(runtime, 'shout; shopt -q extglob && echo on')).toBe('LOUD\non\n');
  },

  'shell.status-variable': async ({ runtime }) => {
    await runtime.run('(exit 5)');
    expect(await sh(runtime, 'echo $?')).toBe('5\n');
    expect(await sh(runtime, 'echo $?')).toBe('0\n');
    await runtime.run('sleep 0 & wait $!; (exit 9)');
    expect(await sh(runtime, 'echo "$? ${!:+has job}"')).toBe('9 has job\n');
  },

  'shell.per-command-env': async ({ runtime }) => {
    await sh(runtime, 'KEPT=before');
    const env = { KEPT: 'during', ADDED: `it's "odd"\n$HOME \\` };
    expect(await sh(runtime, 'echo "$KEPT"; printenv ADDED', { env })).toBe(`during\n${env.ADDED}\n`);
    expect(await sh(runtime, 'echo "$KEPT ${ADDED-unset}"; printenv ADDED KEPT; true')).toBe(
      'before unset\n',
    );
  },

  'shell.per-command-cwd': async ({ runtime }) => {
    await runtime.files.makeDir('aside');
    expect(await sh(runtime, 'pwd', { cwd: 'aside' })).toBe(`${runtime.workspace}/aside\n`);
    const next = await runtime.run('pwd');
    expect(next).toMatchObject({ output: `${runtime.workspace}\n`, cwd: runtime.workspace });
  },

  'shell.special-characters': async ({ runtime }) => {
    const text = 'tab\there !! !$ \\t \\\\ $\\{ é 漢字 👩‍👩‍👧 \u00a0 ~ * ? [a] {a,b} # % & ; | < > ( ) `';
    expect(await sh(runtime, `printf '%s\\n' '${text}'`)).toBe(`${text}\n`);
    expect(await sh(runtime, 'echo "wow!!"')).toBe('wow!!\n');
    expect(await sh(runtime, "printf '%s' 'a\x01b\x7fc' | od -An -tx1")).toBe(' 61 01 62 7f 63\n');
  },

  'shell.long-command': async ({ runtime }) => {
    const text = 'long line of text '.repeat(20_000);
    expect(await sh(runtime, `printf '%s' '${text}' | wc -c`)).toBe(`${text.length}\n`);
    const lines = Array.from({ length: 3000 }, (_, index) => `n${index}=${index}`).join('\n');
    expect(await sh(runtime, `${lines}\necho $n2999`)).toBe('2999\n');
  },

  'shell.prompt-variables': async ({ runtime }) => {
    await runtime.run("PS1='custom> '; PS2='more> '; PS4='trace '", { timeoutMs: 10_000 });
    expect(await sh(runtime, 'echo one', { timeoutMs: 10_000 })).toBe('one\n');
    await runtime.run("PROMPT_COMMAND='echo from the prompt'", { timeoutMs: 10_000 });
    expect(await runtime.run('echo two; (exit 4)', { timeoutMs: 10_000 })).toMatchObject({
      exitCode: 4,
      endedBy: 'exit',
    });
    await runtime.run('unset PROMPT_COMMAND PS1', { timeoutMs: 10_000 });
    expect(await sh(runtime, 'echo three', { timeoutMs: 10_000 })).toContain('three\n');
  },

  'shell.loop-control': async ({ runtime }) => {
    for (const command of [
      'break',
      'continue',
      'return 3',
      'break 5',
      'while :; do break; done',
      'exit() { echo no; }; exit',
    ]) {
      expect((await runtime.run(command, { timeoutMs: 10_000 })).endedBy, command).toBe('exit');
      expect(await sh(runtime, 'echo alive', { timeoutMs: 10_000 }), `after ${command}`).toBe('alive\n');
    }
  },

  'shell.odd-cwd': async ({ runtime }) => {
    for (const name of [
      `it's "quoted"`,
      'new\nline',
      'emoji 🚀 é',
      '-dash',
      'back\\slash $HOME',
      ' spaces ',
      "$'x'",
    ]) {
      await runtime.files.makeDir(name);
      const result = await runtime.run('cd -- "$name" && touch here', { env: { name } });
      expect(result, JSON.stringify(name)).toMatchObject({
        exitCode: 0,
        cwd: `${runtime.workspace}/${name}`,
      });
      expect(await runtime.files.exists(`${name}/here`)).toBe(true);
      expect((await runtime.run('cd ..')).cwd).toBe(runtime.workspace);
    }
  },

  'shell.removed-cwd': async ({ runtime }) => {
    await sh(runtime, 'mkdir doomed && cd doomed && rmdir ../doomed');
    expect(await sh(runtime, 'echo alive', { timeoutMs: 10_000 })).toBe('alive\n');
    expect((await runtime.run(`cd ${runtime.workspace}`)).cwd).toBe(runtime.workspace);
  },

  'shell.terminal': async ({ runtime }) => {
    expect(await sh(runtime, 'test -t 0 && test -t 1 && test -t 2 && echo "$TERM"')).toMatch(/^xterm/);
    expect(
      Number(await sh(runtime, 'tput cols 2>/dev/null || stty size | cut -d" " -f2')),
    ).toBeGreaterThanOrEqual(80);
  },

  'shell.killed': async ({ runtime }) => {
    const result = await runtime.run('echo last words; kill -9 $$');
    expect(result).toMatchObject({
      output: 'last words\n',
      exitCode: null,
      signal: 'SIGKILL',
      endedBy: 'killed',
    });
    const next = await runtime.run('echo fresh');
    expect(next).toMatchObject({ output: 'fresh\n', exitCode: 0 });
    expect(next.notice).toMatch(/shell/i);
  },

  'shell.sessions': async ({ runtime }) => {
    await sh(runtime, 'mkfifo ping pong; mine=default');
    // Each waits for the other, so they end only when they run at the same time.
    const [left, right] = await Promise.all([
      runtime.run('mine=left; echo a > ping; read -r answer < pong; echo "$mine got $answer"', {
        session: 'left',
      }),
      runtime.run('mine=right; read -r answer < ping; echo b > pong; echo "$mine got $answer"', {
        session: 'right',
      }),
    ]);
    expect(left).toMatchObject({ output: 'left got b\n', session: 'left' });
    expect(right).toMatchObject({ output: 'right got a\n', session: 'right' });
    expect(await sh(runtime, 'echo $mine')).toBe('default\n');
  },

  'shell.list-sessions': async ({ runtime }) => {
    await sh(runtime, 'cd /', { session: 'idle' });
    await begin(runtime, 'echo started; cat', /started/, { session: 'working' });
    const { sessions } = await runtime.execute({ action: 'list_sessions' });
    expect(sessions.find(({ session }) => session === 'idle')).toMatchObject({ cwd: '/', running: null });
    expect(sessions.find(({ session }) => session === 'working')?.running).toBe('echo started; cat');
    await finish(runtime, 'C-d', 'working');
  },

  'shell.close-session': async ({ runtime }) => {
    const word = uniqueWord();
    await begin(runtime, `kept=1; echo started; bash -c 'exec -a ${word} sleep 1000'`, /started/, {
      session: 'brief',
    });
    await eventually(async () => (await countProcesses(runtime, word)) === 1);
    await runtime.execute({ action: 'close_session', session: 'brief' });
    await eventually(async () => (await countProcesses(runtime, word)) === 0, 'what ran in it is gone');
    const { sessions } = await runtime.execute({ action: 'list_sessions' });
    expect(sessions.map(({ session }) => session)).not.toContain('brief');
    expect(await sh(runtime, 'echo "kept=$kept"', { session: 'brief' })).toBe('kept=\n');
    await refusal(runtime.execute({ action: 'close_session', session: 'never-opened' }), 'session-not-found');
  },
};
