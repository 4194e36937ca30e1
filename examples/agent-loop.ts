/**
 * An agent that repairs a failing test. The loop is what an agent framework does: give the model the last
 * observation, carry out the action it asks for, stop when it is done. The model here is a script.
 */
import assert from 'node:assert/strict';
import { type ActionInput, createRuntime, type Observation, WorkcellError } from 'workcell';

type Model = (last: Observation | WorkcellError | undefined) => ActionInput | undefined;

const scriptedModel: Model = (last) => {
  if (last === undefined) return { action: 'run', command: 'node --test', timeoutMs: 60_000 };
  if (last instanceof WorkcellError) return { action: 'read', path: 'sum.js' };
  switch (last.observation) {
    case 'run':
      if (last.exitCode === 0) return undefined;
      // A guess that is not in the file: the error tells so, and the agent looks before it tries again.
      return { action: 'edit', path: 'sum.js', oldText: 'return a * b', newText: 'return a + b' };
    case 'read': {
      const [wrong] = last.content.match(/return .*;/) ?? [];
      return { action: 'edit', path: 'sum.js', oldText: wrong ?? '', newText: 'return a + b;' };
    }
    case 'edit':
      return { action: 'run', command: 'node --test', timeoutMs: 60_000 };
    default:
      return undefined;
  }
};

const runtime = await createRuntime({ backend: 'cli' });
try {
  await runtime.write('sum.js', 'exports.sum = (a, b) => {\n  return a - b;\n};\n');
  await runtime.write(
    'sum.test.js',
    "require('node:test')('adds', () => require('node:assert').equal(require('./sum').sum(2, 3), 5));\n",
  );

  const steps: string[] = [];
  let last: Observation | WorkcellError | undefined;
  for (let action = scriptedModel(last); action !== undefined; action = scriptedModel(last)) {
    last = await runtime.execute(action).catch((error: unknown) => {
      if (WorkcellError.isInstance(error)) return error;
      throw error;
    });
    const outcome =
      last instanceof WorkcellError
        ? last.code
        : last.observation === 'run'
          ? `exit ${last.exitCode}`
          : 'done';
    steps.push(`${action.action}: ${outcome}`);
    console.log(steps.at(-1));
  }

  assert.deepEqual(steps, ['run: exit 1', 'edit: edit-no-match', 'read: done', 'edit: done', 'run: exit 0']);
} finally {
  await runtime.close();
}
