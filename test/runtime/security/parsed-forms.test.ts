/** Rules compare the meaning of programs, hosts and paths, not their spelling. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JudgedAction, llmGuard, type PolicyRule, policy } from '../../../src/runtime/security/index.js';
import { policyGuard } from '../../../src/runtime/security/policy/policy-guard.js';
import { allActions } from './all-actions.js';

const decide = async (
  rule: Omit<PolicyRule, 'decision'>,
  action: JudgedAction,
  decision: 'allow' | 'deny',
) => {
  const judged = policy({
    rules: [{ decision, ...rule }],
    onRisk: { low: decision === 'deny' ? 'allow' : 'deny', medium: decision === 'deny' ? 'allow' : 'deny' },
    analyzers: [{ name: 'calm', analyze: () => ({ risk: 'low', reasons: [] }) }],
  });
  const definition = allActions[action.action];
  return (await judged.judge(action, { workspace: '/workspace', home: '/root', definition })).outcome;
};
const run = (command: string) => ({ action: 'run', command });
const cell = (code: string) => ({ action: 'run_code', code, language: 'python' });

describe('programs', () => {
  test.each([
    run('git push origin main'),
    run('git -C . push origin'),
    run('git -c user.name=x --git-dir=.git push origin'),
    run('/usr/bin/git push x'),
    run('./bin/../../usr/bin/git push x'),
    run('env X=1 git push x'),
    run('command git push x'),
    run('X=1 g"i"t pu\\sh x'),
    run('true && (cd /; git push x)'),
    run('git -c alias.p=push p x'),
    run('xargs git push x < list'),
    cell('import subprocess\nsubprocess.run(["git", "push", "x"])'),
    cell('!git -C . push x'),
    { action: 'write_process', id: 'p', data: 'git push x\n' },
    { action: 'start_process', argv: ['bash', '-c', 'git push x'] },
    { action: 'connect_mcp', servers: { a: { command: 'git', args: ['push', 'x'] } } },
    { action: 'call_tool', tool: 't', arguments: { command: 'git push x' } },
  ])('%j is git push', async (action) => {
    expect(await decide({ command: 'git push *' }, action, 'deny')).toBe('deny');
  });

  test.each(['git status', 'git commit -m "git push x"', 'echo git push x', 'git pushy x'])(
    '%s is not',
    async (command) => {
      expect(await decide({ command: 'git push *' }, run(command), 'deny')).toBe('allow');
    },
  );

  test('options in front of a subcommand never hide it', async () => {
    const option = fc.constantFrom(
      '-C .',
      '-c a.b=c',
      '--git-dir=x',
      '--no-pager',
      '--work-tree .',
      '-P',
      '--bare',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(option, { maxLength: 5 }),
        fc.constantFrom('', 'env A=1 ', 'nohup ', 'time '),
        async (options, wrapper) => {
          const command = `${wrapper}git ${options.join(' ')} push origin`;
          expect(await decide({ command: 'git push *' }, run(command), 'deny')).toBe('deny');
        },
      ),
    );
  });

  test('what is allowed is the plain form of a program of the system', async () => {
    const allowed = (command: string) => decide({ command: 'git status*' }, run(command), 'allow');
    expect(await allowed('git status')).toBe('allow');
    expect(await allowed('/usr/bin/git status')).toBe('allow');
    expect(await allowed('./git status')).toBe('deny');
    expect(await allowed('git -c core.pager=./x status')).toBe('deny');
  });
});

describe('hosts', () => {
  const spell = fc.record({
    scheme: fc.constantFrom('http://', 'HTTPS://', 'https:', 'ftp://', 'https:\\\\'),
    user: fc.constantFrom('', 'a@', 'good.example@', 'a:b@', 'good.example:80@'),
    dot: fc.constantFrom('', '.'),
    port: fc.constantFrom('', ':443', ':8080'),
    rest: fc.constantFrom('', '/x', '?good.example', '#good.example', '/@good.example'),
    dots: fc.constantFrom('.', '%2e', '。', '．'),
    upper: fc.boolean(),
  });
  const address = spell.map(({ scheme, user, dot, port, rest, dots, upper }) => {
    const name = `evil${dots}example`;
    return `${scheme}${user}${upper ? name.replace('evil', 'EVIL') : name}${dot}${port}${rest}`;
  });

  test('no spelling of a host gets around a rule that denies it, or into one that allows another', async () => {
    await fc.assert(
      fc.asyncProperty(address, async (url) => {
        expect(await decide({ host: 'evil.example' }, { action: 'browse', url }, 'deny')).toBe('deny');
        expect(await decide({ host: 'good.example' }, { action: 'browse', url }, 'allow')).toBe('deny');
      }),
      { numRuns: 300 },
    );
  });

  test('where parsers differ, every reading counts', async () => {
    const url = 'http://good.example\\@evil.example/';
    expect(await decide({ host: 'evil.example' }, { action: 'browse', url }, 'deny')).toBe('deny');
    expect(await decide({ host: 'good.example' }, { action: 'browse', url }, 'allow')).toBe('deny');
  });

  test('numbers, look-alikes and ports are what they are looked up as', async () => {
    const denied = (host: string, url: string) => decide({ host }, { action: 'browse', url }, 'deny');
    expect(await denied('127.0.0.1', 'http://0x7f.1/')).toBe('deny');
    expect(await denied('127.0.0.1', 'http://2130706433/')).toBe('deny');
    expect(await denied('127.0.0.1', 'http://[::ffff:127.0.0.1]/')).toBe('deny');
    expect(await denied('xn--exmple-cua.com', 'https://exämple.com/')).toBe('deny');
    expect(await denied('exämple.com', 'https://xn--exmple-cua.com/')).toBe('deny');
    expect(await denied('example.com', 'https://ｅxample.com/')).toBe('deny');
    expect(await denied('example.com:8443', 'https://example.com:8443/')).toBe('deny');
    expect(await denied('example.com:8443', 'https://example.com/')).toBe('allow');
    expect(await denied('example.com:443', 'https://example.com/')).toBe('deny');
    expect(await denied('example.com', 'https://example.com.evil.example/')).toBe('allow');
  });

  test.each([
    run('curl -x http://p.example https://Evil.example./x'),
    run('git clone git@evil.example:a/b'),
    run('curl --url=https://evil.example'),
    cell('import requests\nrequests.get("https://evil.example/x")'),
    { action: 'browse_interactive', code: "goto('https://evil' '.example/')" },
    { action: 'call_tool', tool: 't', arguments: { q: 'see https://evil.example/x' } },
    { action: 'connect_mcp', servers: { a: { url: 'https://evil.example/mcp' } } },
  ])('%j reaches it', async (action) => {
    expect(await decide({ host: 'evil.example' }, action, 'deny')).toBe('deny');
  });

  test('a command that does not tell where it goes is not allowed by a host', async () => {
    expect(await decide({ host: 'a.example' }, run('curl https://a.example/x'), 'allow')).toBe('allow');
    expect(await decide({ host: 'a.example' }, run('curl https://a.example/x; nc "$H" 1'), 'allow')).toBe(
      'deny',
    );
  });
});

describe('paths', () => {
  const detours = fc.array(fc.constantFrom('.', 'x/..', '', 'a/b/../..'), { maxLength: 4 });
  const prefix = fc.constantFrom('/', '//', '/proc/self/root/', '/proc/1/root/', '/proc/self/cwd/../');

  test('no detour gets around a rule that denies a path', async () => {
    await fc.assert(
      fc.asyncProperty(prefix, detours, async (start, way) => {
        const path = `${start}${way.map((part) => `${part}/`).join('')}etc/secret`;
        expect(await decide({ path: '/etc/**' }, { action: 'read', path }, 'deny')).toBe('deny');
        expect(await decide({ path: '/etc/**' }, run(`cat ${path}`), 'deny')).toBe('deny');
      }),
    );
  });

  test('what is allowed by its path is a verb of files, and no command', async () => {
    expect(await decide({ path: '/workspace/**' }, { action: 'read', path: 'a' }, 'allow')).toBe('allow');
    expect(await decide({ path: '/workspace/**' }, { ...run('sudo ls'), cwd: 'src' }, 'allow')).toBe('deny');
    expect(await decide({ path: '/workspace/**' }, { action: 'read', path: '../x' }, 'allow')).toBe('deny');
  });
});

test('pieces of a line that are typed one after the other are judged together', async () => {
  const guard = policyGuard(policy({}));
  const context = {
    workspace: '/workspace',
    cell: 'a',
    definition: allActions.write_process,
    record: () => {},
  };
  const type = (data: string, id = 'p') => guard({ action: 'write_process', id, data }, context);
  await type('rm -r');
  await type('f ');
  await type('/ok\n', 'another');
  await expect(type('/\n')).rejects.toMatchObject({ code: 'denied' });
  await type('build\n');
  await type('rm -rf \\\n');
  await expect(type('/\n')).rejects.toMatchObject({ code: 'denied' });
});

test('a waiver counts for the cell it names, and once', async () => {
  const model = { doGenerate: () => Promise.reject(new Error('asked')) } as never;
  const guard = llmGuard({ model });
  const call = run('ls');
  guard.waive({ call, cell: 'a', who: 'ann', reason: 'known' });
  expect(await guard.analyze(call, { cell: 'b' })).toMatchObject({ refused: true });
  expect(await guard.analyze(call)).toMatchObject({ refused: true });
  expect(await guard.analyze(call, { cell: 'a' })).toMatchObject({ risk: 'low' });
  expect(await guard.analyze(call, { cell: 'a' })).toMatchObject({ refused: true });
});
