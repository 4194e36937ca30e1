/**
 * An agent's commands in a container: an image of your choice, limits, and a demand that the place really isolates. Wants
 * a Docker Engine; DOCKER_HOST says which, as for `docker` itself.
 */
import assert from 'node:assert/strict';
import { createRuntime } from 'workcell';

const { IMAGE: image = 'debian:bookworm' } = process.env;

await using runtime = await createRuntime({
  config: false,
  backend: 'docker',
  image,
  limits: { memoryBytes: 512 * 1024 ** 2, pids: 100 },
  minIsolation: 'container',
  events: { store: 'memory' },
});
const { output, exitCode } = await runtime.run('. /etc/os-release; echo "$ID, as user $(id -u)"');
assert.equal(exitCode, 0);
console.log(`${image}: ${output.trim()}`);

// What the container really enforces, fact by fact.
const facts = runtime.isolation.facts.filter(({ enforced }) => enforced).map(({ code }) => code);
console.log(`enforced: ${facts.join(', ')}`);
assert.ok(facts.includes('network'));

// No network unless you give one.
const attempt = await runtime.run('(echo > /dev/tcp/192.0.2.1/80) 2>/dev/null');
assert.notEqual(attempt.exitCode, 0);
