/**
 * The pure parts, each on input as agents make it. Runs below an instruction counter, which takes what stands between two
 * calls of `process.umask`: nothing else here calls it.
 */
import { render } from '../../src/cell/executor/shell/render.js';
import { parseAction } from '../../src/protocol/index.js';
import { rules } from '../../src/runtime/security/analyzers/rules.js';
import { createMask } from '../../src/runtime/security/secrets/secret-mask.js';
import { Matcher } from '../../src/runtime/security/secrets/secret-matcher.js';

const times = 5;

const matcher = new Matcher();
for (let number = 0; number < 5; number++)
  matcher.add(`SECRET_${number}`, `a-value-${number}-of-some-length`);
const mask = createMask(matcher);
const output = 'src/index.ts(12,7): a-value-3-of-some-length is not assignable\n'.repeat(40);
const { analyze } = rules();
const command =
  'cd packages/core && npm test -- --reporter=dot 2>&1 | tail -20; find . -name "*.log" -delete';
const screen = Buffer.from(`${'\u001b[32mok\u001b[0m a test that passed\r\n'.repeat(30)}50%\r100%\r\n`);

/** Of nobody's code: what another version of Node makes dearer, it makes dearer here too. */
function reference(): number {
  let sum = 0;
  for (let round = 0; round < 200; round++) {
    const parsed = JSON.parse(`{"list":[1,2,3],"text":"line ${round}"}`) as { list: number[]; text: string };
    const fields = Object.fromEntries(Object.entries(parsed).map(([key, value]) => [key, String(value)]));
    sum += /(\d+)$/.exec(fields.text ?? '')?.[1]?.length ?? 0;
  }
  return sum;
}

/** In the order in which `count.ts` names them. */
const parts: readonly (() => unknown)[] = [
  reference,
  () => mask.value({ observation: 'run', command: 'npm test', output, exitCode: 1 }),
  () => analyze({ action: 'run', command }),
  () => render(screen, { columns: 200, rows: 50 }),
  () => parseAction({ action: 'edit', path: 'src/index.ts', oldText: 'one', newText: 'two' }),
];

for (const part of parts) {
  // What happens once only, such as tables that are made at first use.
  for (let time = 0; time < times; time++) await part();
  process.umask();
  for (let time = 0; time < times; time++) await part();
  process.umask();
}
