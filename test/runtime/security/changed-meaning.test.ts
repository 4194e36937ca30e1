/** An answer counts for what the action meant when it was asked, also when that changes while the question waits. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { filePendingStore, type JudgedAction, policy } from '../../../src/runtime/security/index.js';
import { policyGuard } from '../../../src/runtime/security/policy/policy-guard.js';
import { allActions } from './all-actions.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-meaning-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Guard = ReturnType<typeof policyGuard>;

function act(guard: Guard, step: string | JudgedAction, signal?: AbortSignal): Promise<string> {
  const action = typeof step === 'string' ? { action: 'run', command: step, session: 'default' } : step;
  const definition = allActions[action.action];
  const place = { workspace: '/workspace', cell: 'one', cwd: '/workspace' };
  return guard(action, { ...place, definition, signal, record: () => {} }).then(
    () => 'allowed',
    (error: { code: string }) => error.code,
  );
}

const write = (path: string, content: string) => ({ action: 'write', path, content, encoding: 'utf8' });
const rules = [{ decision: 'confirm', command: ['sh *', 'python3 *', 'npm *', 'git push'] } as const];

/** Asks, and cancels once the question waits; the person answers it afterwards. */
async function askAndCancel(guard: Guard, pending: ReturnType<typeof filePendingStore>, step: string) {
  const stop = new AbortController();
  const put = pending.put;
  const asked = new Promise<string>((resolve) => {
    pending.put = async (request) => {
      await put(request);
      pending.put = put;
      resolve(request.id);
    };
  });
  const acting = act(guard, step, stop.signal);
  const id = await asked;
  stop.abort();
  expect(await acting).toBe('confirmation-timeout');
  await pending.answer(id, 'approve', 'alice');
}

let stores = 0;

test.each<[string, string, JudgedAction | string]>([
  ['a script that a shell reads', 'sh x.sh', write('x.sh', 'ls -a\n')],
  ['a script that an interpreter reads', 'python3 x.py', write('x.py', 'print(2)\n')],
  ['a script of a package', 'npm run x', write('package.json', '{"scripts":{"x":"id"}}')],
  ['a variable', 'git push', 'export GIT_DIR=/workspace/other/.git'],
  ['a variable for new shells', 'git push', { action: 'set_env', variables: { GIT_DIR: '/workspace/o' } }],
  ['a function', 'git push', 'git() { command git "$@"; ls; }'],
])('an answer given before %s changed does not count', async (_, step, change) => {
  const pending = filePendingStore(join(directory, String(stores++)));
  const guard = policyGuard(policy({ rules, pending, confirmTimeoutMs: 0 }));
  const patient = policyGuard(policy({ rules, pending }));
  for (const each of [guard, patient]) {
    await act(each, write('x.sh', 'ls\n'));
    await act(each, write('x.py', 'print(1)\n'));
    await act(each, write('package.json', '{"scripts":{"x":"ls"}}'));
  }
  // The same meaning takes the answer, once.
  await askAndCancel(patient, pending, step);
  expect(await act(guard, step)).toBe('allowed');
  expect(await act(guard, step)).toBe('confirmation-timeout');
  await askAndCancel(patient, pending, step);
  expect(await act(guard, change)).toBe('allowed');
  expect(await act(guard, step)).toBe('confirmation-timeout');
});

/** A guard whose person takes part in `during` while each question waits. */
function whileAsked(during: (guard: Guard, question: number) => Promise<unknown> | undefined) {
  const asked: unknown[] = [];
  const guard: Guard = policyGuard(
    policy({
      rules,
      confirm: async ({ action }) => {
        asked.push(action.command);
        await during(guard, asked.length);
        return 'approve' as const;
      },
    }),
  );
  return { guard, asked };
}

test('a script that changes while the question waits is asked anew, and stays changed', async () => {
  const { guard, asked } = whileAsked((own, question) =>
    question === 1 ? act(own, write('x.sh', 'rm -rf /\n')) : undefined,
  );
  await act(guard, write('x.sh', 'ls\n'));
  // The changed script is what the rules refuse.
  expect(await act(guard, 'sh x.sh')).toBe('allowed');
  expect(asked).toHaveLength(2);
  expect(await act(guard, '. ./x.sh')).toBe('denied');
});

test('a shell that goes elsewhere while the question waits is asked anew', async () => {
  const { guard, asked } = whileAsked((own, question) => (question === 1 ? act(own, 'cd other') : undefined));
  expect(await act(guard, 'git push')).toBe('allowed');
  expect(asked).toHaveLength(2);
});

test('what other actions leave while a question waits is remembered', async () => {
  const { guard, asked } = whileAsked((own, question) =>
    question === 1 ? act(own, write('y.sh', 'rm -rf /\n')) : undefined,
  );
  await act(guard, write('x.sh', 'ls\n'));
  expect(await act(guard, 'sh x.sh')).toBe('allowed');
  expect(asked).toHaveLength(1);
  expect(await act(guard, '. ./y.sh')).toBe('denied');
});

test('an action whose meaning changes at every question is refused in the end', async () => {
  const { guard, asked } = whileAsked((own, question) => act(own, write('x.sh', `echo ${question}\n`)));
  await act(guard, write('x.sh', 'ls\n'));
  expect(await act(guard, 'sh x.sh')).toBe('denied');
  expect(asked).toHaveLength(5);
});
