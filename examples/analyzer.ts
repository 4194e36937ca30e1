/** Your own analyzer, in ten lines: it sees each action before it runs and says how risky it is. */
import assert from 'node:assert/strict';
import { createRuntime } from 'workcell';
import { type Analyzer, rules } from 'workcell/security';

const noDeploys: Analyzer = {
  name: 'no-deploys',
  analyze({ command }) {
    const deploys = typeof command === 'string' && /\bdeploy\b/.test(command);
    return deploys ? { risk: 'high', reasons: ['Deploying is for people.'] } : { risk: 'low', reasons: [] };
  },
};

await using runtime = await createRuntime({
  config: false,
  backend: 'cli',
  events: { store: 'memory' },
  guards: [rules(), noDeploys],
});

const { output } = await runtime.run('echo fine');
assert.equal(output, 'fine\n');
await assert.rejects(runtime.run('./deploy production'), { code: 'denied' });

// Both verdicts are in the record, with their reasons.
for await (const event of runtime.events.since(0, { kinds: ['decision'] })) {
  if (event.kind !== 'decision') continue;
  console.log(event.decision.outcome, event.decision.risk, event.decision.reasons.join(' '));
  if (event.decision.outcome === 'deny') break;
}
