import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type Analyzer,
  type DecisionRecord,
  filePendingStore,
  type PolicyOptions,
  policy,
} from '../../../src/runtime/security/index.js';
import { allActions } from './all-actions.js';

const run = (command: string) => ({ action: 'run', command });
const outcome = async (options: PolicyOptions, command: string) =>
  (await policy(options).judge(run(command))).outcome;

const directories: string[] = [];
const scratch = () => {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-policy-'));
  directories.push(directory);
  return directory;
};
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

describe('by risk', () => {
  test('low runs, high does not, medium needs somebody who says yes', async () => {
    expect(await outcome({}, 'ls')).toBe('allow');
    expect(await outcome({}, 'rm -rf /')).toBe('deny');
    expect(await outcome({}, 'sudo ls')).toBe('deny');
    expect(await outcome({ confirm: () => 'approve' }, 'sudo ls')).toBe('allow');
    expect(await outcome({ confirm: () => 'deny' }, 'sudo ls')).toBe('deny');
    expect(await outcome({ confirm: () => 'approve' }, 'rm -rf /')).toBe('deny');
  });

  test('mode always asks about everything, mode never asks nobody and still denies', async () => {
    expect(await outcome({ mode: 'always' }, 'ls')).toBe('deny');
    expect(await outcome({ mode: 'always', confirm: () => 'approve' }, 'ls')).toBe('allow');
    const confirm = () => {
      throw new Error('was asked');
    };
    expect(await outcome({ mode: 'never', confirm }, 'sudo ls')).toBe('allow');
    expect(await outcome({ mode: 'never', confirm }, 'rm -rf /')).toBe('deny');
    expect(await outcome({ mode: 'never', confirm }, 'echo "open')).toBe('deny');
  });
});

describe('fails closed', () => {
  const failing: [string, Analyzer['analyze']][] = [
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
    ['never answers', () => new Promise(() => {})],
    ['answers nonsense', () => ({ risk: 'fine' }) as never],
    ['answers nothing', () => undefined as never],
  ];
  test.each(failing)('an analyzer that %s means unknown, never allow', async (_, analyze) => {
    const record = await policy({
      analyzers: [{ name: 'x', analyze }],
      analyzerTimeoutMs: 20,
      rules: [{ decision: 'allow', action: '*' }],
      mode: 'never',
    }).judge(run('ls'));
    expect(record).toMatchObject({ risk: 'unknown', outcome: 'deny' });
  });

  test('unknown cannot be allowed by configuration', () => {
    expect(() => policy({ onRisk: { unknown: 'allow' as never } })).toThrow(/unknown/);
    expect(() => policy({ rules: [{ decision: 'allow', risk: ['high', 'unknown'] }] })).toThrow(/unknown/);
  });

  test('no answer in time, a question that fails and an answer nobody knows deny', async () => {
    const late = await policy({ confirm: () => new Promise(() => {}), confirmTimeoutMs: 20 }).judge(
      run('sudo ls'),
    );
    expect(late).toMatchObject({ outcome: 'deny', by: 'timeout' });
    expect(await outcome({ confirm: () => Promise.reject(new Error('no terminal')) }, 'sudo ls')).toBe(
      'deny',
    );
    expect(await outcome({ confirm: () => 'yes' as never }, 'sudo ls')).toBe('deny');
  });

  test('a guard that refuses is not lifted by any rule', async () => {
    const guard: Analyzer = { name: 'g', analyze: () => ({ risk: 'low', reasons: ['no'], refused: true }) };
    const record = await policy({ analyzers: [guard], rules: [{ decision: 'allow', action: '*' }] }).judge(
      run('ls'),
    );
    expect(record).toMatchObject({ outcome: 'deny', by: 'guard' });
  });
});

describe('rules', () => {
  test('the first that matches decides', async () => {
    const rules: PolicyOptions['rules'] = [
      { decision: 'deny', command: 'git push *', reason: 'No pushing.' },
      { decision: 'allow', command: ['git *', 'npm *'] },
    ];
    expect(await outcome({ rules }, 'git push origin main')).toBe('deny');
    expect(await outcome({ rules }, 'git reset --hard')).toBe('allow');
    expect(await outcome({ rules }, 'ls && git push origin main')).toBe('deny');
  });

  test.each([
    'npm test; sudo ls',
    'npm test && sudo ls',
    'npm test | sudo tee x',
    'npm test $(sudo ls)',
    'npm test `sudo ls`',
    'npm test & sudo ls',
    'npm test <(sudo ls)',
    'npm test\nsudo ls',
    'bash -c "npm test; sudo ls"',
    'X="sudo ls"; npm test; $X',
    'npm test "',
  ])('an allowed command does not carry another one along: %s', async (command) => {
    expect(await outcome({ rules: [{ decision: 'allow', command: 'npm *' }] }, command)).toBe('deny');
  });

  test('what is allowed covers high only where it says so', async () => {
    expect(await outcome({ rules: [{ decision: 'allow', command: 'rm *' }] }, 'rm -rf /')).toBe('deny');
    expect(await outcome({ rules: [{ decision: 'allow', command: 'rm *', risk: 'high' }] }, 'rm -rf /')).toBe(
      'allow',
    );
  });

  test('paths, hosts, tools and kinds are looked at', async () => {
    const judge = async (
      rules: NonNullable<PolicyOptions['rules']>,
      action: { action: string; [field: string]: unknown },
    ) =>
      (
        await policy({ rules }).judge(action, {
          workspace: '/workspace',
          definition: allActions[action.action],
        })
      ).outcome;
    expect(
      await judge([{ decision: 'deny', path: '/workspace/secret/**' }], {
        action: 'read',
        path: 'a/../secret/x',
      }),
    ).toBe('deny');
    expect(
      await judge([{ decision: 'deny', path: '/workspace/secret/**' }], { action: 'read', path: 'other' }),
    ).toBe('allow');
    expect(
      await judge([{ decision: 'deny', host: '*.evil.example' }], run('curl https://a.evil.example/x')),
    ).toBe('deny');
    expect(
      await judge([{ decision: 'deny', host: '*.evil.example' }], {
        action: 'browse',
        url: 'https://x.evil.example:8080',
      }),
    ).toBe('deny');
    expect(
      await judge([{ decision: 'deny', tool: 'shell_*' }], { action: 'call_tool', tool: 'shell_exec' }),
    ).toBe('deny');
    expect(
      await judge([{ decision: 'deny', action: ['write', 'edit'] }], { action: 'edit', path: 'x' }),
    ).toBe('deny');
  });

  test('the boundary of the workspace holds for every path of an action', async () => {
    const judge = async (action: { action: string; [field: string]: unknown }) =>
      (
        await policy({ outsideWorkspace: 'deny', rules: [{ decision: 'allow', action: '*' }] }).judge(
          action,
          { workspace: '/workspace' },
        )
      ).outcome;
    expect(await judge({ action: 'read', path: 'src/x' })).toBe('allow');
    expect(await judge({ action: 'read', path: '/workspace/x' })).toBe('allow');
    expect(await judge({ action: 'read', path: '/workshop/x' })).toBe('deny');
    expect(await judge({ action: 'read', path: '../x' })).toBe('deny');
    expect(await judge({ action: 'move', from: 'x', to: '/tmp/x' })).toBe('deny');
  });

  test('nothing in an action widens what is allowed', async () => {
    const action = {
      ...run('rm -rf /'),
      security_risk: 'low',
      risk: 'low',
      confirmed: true,
      decision: 'allow',
      refused: false,
    };
    expect((await policy({ confirm: () => 'approve' }).judge(action)).outcome).toBe('deny');
  });
});

test('each decision is recorded with who decided and the version of the policy', async () => {
  const records: DecisionRecord[] = [];
  const judged = policy({
    confirm: () => ({ answer: 'approve', who: 'ann' }),
    onDecision: (record) => records.push(record),
  });
  await judged.judge(run('sudo ls'));
  expect(records).toMatchObject([
    {
      outcome: 'allow',
      by: 'person',
      who: 'ann',
      risk: 'medium',
      policyVersion: judged.version,
      verdicts: [{ analyzer: 'rules' }],
    },
  ]);
  expect(policy({ rules: [{ decision: 'deny', action: 'x' }] }).version).not.toBe(judged.version);
});

describe('pending confirmations', () => {
  test('another process answers, and the answer counts once', async () => {
    const directory = scratch();
    const pending = filePendingStore(directory);
    const judging = policy({ pending, confirmTimeoutMs: 5000 }).judge(run('sudo ls'), {
      onPending: ({ requestId = '' }) =>
        void setImmediate(() => filePendingStore(directory).answer(requestId, 'approve', 'bob')),
    });
    expect(await judging).toMatchObject({ outcome: 'allow', by: 'person', who: 'bob' });
    expect(readdirSync(directory)).toEqual([]);
  });

  test('a refusal takes a word to the agent along', async () => {
    const pending = filePendingStore(scratch());
    const judged = await policy({ pending, confirmTimeoutMs: 5000 }).judge(run('sudo ls'), {
      onPending: ({ requestId = '' }) =>
        void setImmediate(() => pending.answer(requestId, 'deny', 'bob', undefined, 'Use ls alone.')),
    });
    expect(judged).toMatchObject({
      outcome: 'deny',
      reasons: ['A person refused it: Use ls alone.', expect.anything()],
    });
  });

  test('a question survives a restart with its id and time, and its answer waits', async () => {
    const directory = scratch();
    const stop = new AbortController();
    let asked = '';
    const first = policy({ pending: filePendingStore(directory), confirmTimeoutMs: 60_000 }).judge(
      run('sudo ls'),
      {
        signal: stop.signal,
        onPending: ({ requestId = '' }) => {
          asked = requestId;
          stop.abort();
        },
      },
    );
    expect((await first).outcome).toBe('deny');
    const store = filePendingStore(directory);
    expect(await store.list()).toMatchObject([{ id: asked, action: run('sudo ls') }]);
    await store.answer(asked, 'approve', 'eve');
    expect(
      (await policy({ pending: store }).judge(run('sudo ls -a'), { signal: AbortSignal.timeout(50) }))
        .outcome,
    ).toBe('deny');
    expect(await policy({ pending: store }).judge(run('sudo ls'))).toMatchObject({
      outcome: 'allow',
      who: 'eve',
      requestId: asked,
    });
    expect((await policy({ pending: store, confirmTimeoutMs: 20 }).judge(run('sudo ls'))).outcome).toBe(
      'deny',
    );
  });

  test('a late or broken file is no answer', async () => {
    const directory = scratch();
    const store = filePendingStore(directory);
    writeFileSync(join(directory, 'aaaaaaaaaaaaaaaa.json'), '{"answer":');
    expect(await store.list()).toEqual([]);
    expect(() => store.answer('../../etc/passwd', 'approve')).toThrow(/no pending/);
    expect((await policy({ pending: store, confirmTimeoutMs: 20 }).judge(run('sudo ls'))).by).toBe('timeout');
  });
});

test.each([
  ['*curl*|*sh*', `echo '${'curl |'.repeat(2000)}'`],
  [`${'*a'.repeat(30)}*b`, `echo ${'a'.repeat(100_000)}`],
])('a rule with many stars decides about text made for it: %s', async (command, text) => {
  expect(await outcome({ rules: [{ decision: 'deny', command }] }, text)).not.toBe('deny');
});

test('a rule with a pattern that is too long makes no policy', () => {
  expect(() => policy({ rules: [{ decision: 'deny', command: `*${'a'.repeat(2000)}` }] })).toThrow(
    expect.objectContaining({ code: 'invalid-pattern' }),
  );
});
