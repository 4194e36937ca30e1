/** The best of several tries: three forks change the code, a check judges them, and you take the winner over. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bestOf, createRuntime } from 'workcell';

const repository = await mkdtemp(join(tmpdir(), 'best-of-n-'));
await writeFile(join(repository, 'sum.sh'), 'echo $(( $1 - $2 ))\n');

// The agents of this example; usually each try is a model at work.
const ideas = ['echo $(( $1 * $2 ))', 'echo $(( $1 + $2 ))', 'echo $1$2'];

const runtime = await createRuntime({ config: false, workspace: { from: repository, mode: 'overlay' } });
try {
  const { winner, score, scores } = await bestOf(runtime, {
    count: ideas.length,
    attempt: (fork, index) => fork.write('sum.sh', `${ideas[index]}\n`),
    async judge(_, fork) {
      const { output } = await fork.run('bash sum.sh 2 3; bash sum.sh 2 2');
      return ['5', '4'].filter((line, index) => output.split('\n')[index] === line).length;
    },
  });
  console.log(`scores: ${scores.join(', ')}`);
  assert.deepEqual({ score, scores }, { score: 2, scores: [1, 2, 0] });

  const { changes, conflicts } = await winner.apply(repository, { preview: true });
  console.log(changes[0]?.patch ?? changes[0]?.path);
  assert.deepEqual(conflicts, []);
  await winner.apply(repository);
  await winner.close();
  assert.equal(await readFile(join(repository, 'sum.sh'), 'utf8'), `${ideas[1]}\n`);
} finally {
  await runtime.close();
  await rm(repository, { recursive: true });
}
