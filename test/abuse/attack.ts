/** Attacks sandboxes with the cases whose ids match the first argument, and prints the verdicts as one line of JSON. */
import { abuseCases, runCase, type Verdict } from '../../src/testing/abuse/index.js';

const chosen = new RegExp(process.argv[2] ?? '');
const verdicts: Verdict[] = [];
for (const abuse of abuseCases.filter(({ id }) => chosen.test(id))) {
  verdicts.push(await runCase(abuse, 'sandbox'));
}
process.stdout.write(`${JSON.stringify({ backend: 'sandbox', verdicts })}\n`);
