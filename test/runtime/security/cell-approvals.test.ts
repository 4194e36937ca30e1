/** What a person allows for a whole cell: file actions, as long as nothing could change what they mean. */
import { expect, test } from 'vitest';
import {
  type Answer,
  type ConfirmationRequest,
  type DecisionRecord,
  type JudgedAction,
  type PolicyOptions,
  policy,
} from '../../../src/runtime/security/index.js';
import { policyGuard } from '../../../src/runtime/security/policy/policy-guard.js';
import { allActions } from './all-actions.js';

type Step = string | JudgedAction;

/** Acts in cells, and keeps what a person was asked. */
function open(answer: Answer, options: PolicyOptions = {}) {
  const asked: ConfirmationRequest[] = [];
  const confirm = (request: ConfirmationRequest) => {
    asked.push(request);
    return answer;
  };
  const shared = policy({ ...options, confirm });
  const decisions: Omit<DecisionRecord, 'action'>[] = [];
  const start = () => {
    const guard = policyGuard(shared);
    return (step: Step, cell = 'one') => {
      const action = typeof step === 'string' ? { action: 'run', command: step, session: 'default' } : step;
      const definition = allActions[action.action];
      const record = (decision: Omit<DecisionRecord, 'action'>) => decisions.push(decision);
      return guard(action, { workspace: '/workspace', cell, definition, cwd: '/workspace', record }).then(
        () => 'allowed',
        (error: { code: string }) => error.code,
      );
    };
  };
  return { act: start(), start, asked, decisions };
}

const forCell: Answer = { answer: 'approve', scope: 'cell', who: 'alice' };
const onRisk = { high: 'confirm' } as const;
const remove = { action: 'remove', path: '/workspace/build', recursive: true };
const always: PolicyOptions = { rules: [{ decision: 'confirm', path: '/workspace/build' }] };
const write = (path: string, content: string) => ({ action: 'write', path, content, encoding: 'utf8' });
const python = (code: string) => ({ action: 'run_code', code, language: 'python' });

test('the same file action runs again unasked, and the record says who allowed it', async () => {
  const { act, asked, decisions } = open(forCell, always);
  expect([await act(remove), await act(remove), await act(remove)]).toEqual(Array(3).fill('allowed'));
  expect(asked).toHaveLength(1);
  expect(asked[0]?.forCell).toBe(true);
  const [, first, second] = decisions;
  expect(first).toMatchObject({ outcome: 'allow', by: 'person', who: 'alice' });
  expect(second).toMatchObject({ outcome: 'allow', by: 'person', who: 'alice', requestId: first?.requestId });
  for (const { reasons } of decisions.slice(1)) expect(reasons[0]).toBe('A person allowed it for this cell.');
});

test.each<[string, Answer]>([
  ['once', 'approve'],
  ['once by name', { answer: 'approve', scope: 'once' }],
  ['a refusal', { answer: 'deny', scope: 'cell' }],
  ['a scope that nobody knows', { answer: 'approve', scope: 'onec' as 'once' }],
])('%s asks the next time', async (_, answer) => {
  const { act, asked } = open(answer, always);
  await act(remove);
  await act(remove);
  expect(asked).toHaveLength(2);
});

test('reading and writing files in between leaves the approval', async () => {
  const { act, asked } = open(forCell, always);
  await act(remove);
  await act(write('x.txt', 'x\n'));
  await act({ action: 'read', path: 'x.txt' });
  await act({ action: 'edit', path: 'x.txt', oldText: 'x', newText: 'y' });
  await act(remove);
  expect(asked).toHaveLength(1);
});

test.each<[string, Step]>([
  ['a command', 'ln -s / x'],
  ['code', python('x = 1')],
  ['a process', { action: 'start_process', argv: ['ls'] }],
  ['a move', { action: 'move', from: 'a', to: 'b' }],
  ['a copy', { action: 'copy', from: 'a', to: 'b' }],
  ['variables', { action: 'set_env', variables: { X: '1' } }],
])('%s in between asks again', async (_, between) => {
  const { act, asked } = open(forCell, always);
  await act(remove);
  expect(await act(between)).toBe('allowed');
  const before = asked.length;
  await act(remove);
  expect(asked.length).toBe(before + 1);
});

test('a command that runs while a person decides leaves nothing to remember', async () => {
  let during: (() => Promise<string>) | undefined;
  let questions = 0;
  const confirm = async () => {
    questions++;
    const first = during;
    during = undefined;
    await first?.();
    return forCell;
  };
  const guard = policyGuard(policy({ ...always, confirm }));
  const act = (action: JudgedAction) =>
    guard(action, {
      ...{ workspace: '/workspace', cell: 'one', definition: allActions[action.action] },
      record: () => {},
    }).then(() => 'allowed');
  during = () => act({ action: 'run', command: 'ls', session: 'default' });
  await act(remove);
  await act(remove);
  expect(questions).toBe(2);
});

test('another cell, another runtime with the same policy, and another path ask', async () => {
  const { act, start, asked } = open(forCell, { mode: 'always' });
  await act(remove);
  await act(remove, 'two');
  await start()(remove);
  await act({ ...remove, path: '/workspace/other' });
  expect(asked).toHaveLength(4);
});

test.each<[string, Step, Step]>([
  ['variables with values', 'git push --force', 'export GIT_DIR=/workspace/other/.git'],
  ['the search path', 'git push --force', 'export PATH=/workspace/bin:$PATH'],
  ['sourced text', 'git push --force', 'source ./env.sh'],
  ['an unknown variable', 'rm -r "$T"', 'read T < b.txt'],
  ['output of a command', 'kill $(cat pid)', 'echo 1 > pid'],
  ['a function', 'git push --force', 'git() { command git "$@"; chmod -R 777 .; }'],
  ['a copied script', 'sh deploy.sh', 'cp other.sh deploy.sh'],
  ['a moved script', 'sh deploy.sh', 'mv other.sh deploy.sh'],
  ['a script changed in place', 'sh deploy.sh', 'sed -i s/a/b/ deploy.sh'],
  ['a script of another branch', 'sh deploy.sh', 'git checkout other'],
  ['a script of an interpreter', 'python3 x.py', write('x.py', 'print(2)\n')],
  ['a script of a package', 'npm run x', write('package.json', '{"scripts":{"x":"ls"}}')],
  ['a variable of a code cell', python('deploy(target)'), python('target = "prod"')],
  ['a copied file', { action: 'copy', from: 'a.sh', to: 'b.sh' }, write('a.sh', 'rm -rf /\n')],
  ['an edited file', { action: 'edit', path: 'a', oldText: 'x', newText: 'y' }, write('a', 'x\n')],
  ['appended text', { ...write('a', 'x\n'), append: true }, write('a', 'rm \\\n')],
])(
  'what depends on %s is asked each time, and "for this cell" is not offered',
  async (_, action, between) => {
    const { act, asked } = open(forCell, { mode: 'always', onRisk });
    expect(await act(action)).toBe('allowed');
    expect(asked[0]?.forCell).toBeUndefined();
    await act(between);
    const before = asked.length;
    expect(await act(action)).toBe('allowed');
    expect(asked.length).toBe(before + 1);
    // Nor is it unasked when nothing lies between.
    await act(action);
    expect(asked.length).toBe(before + 2);
  },
);

test('an action of a plugin that has the name of a file action counts once', async () => {
  const { asked } = open(forCell);
  const guard = policyGuard(
    policy({
      mode: 'always',
      confirm: (request) => {
        asked.push(request);
        return forCell;
      },
    }),
  );
  const definition = { ...allActions.remove };
  const context = { workspace: '/workspace', cell: 'one', definition, record: () => {} };
  await guard(remove, context);
  await guard(remove, context);
  expect(asked).toHaveLength(2);
});

test('what a rule denies stays denied', async () => {
  const { act, asked } = open(forCell, { rules: [{ decision: 'deny', path: '/workspace/build' }] });
  expect([await act(remove), await act(remove)]).toEqual(['denied', 'denied']);
  expect(asked).toHaveLength(0);
});
