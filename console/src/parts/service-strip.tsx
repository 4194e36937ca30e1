/** How the service does, for its operator: what is wrong comes first. */
import type { ServiceStatus } from '../../../src/protocol/service-wire.js';
import { ask } from '../api.js';
import { age, bytes } from '../format.js';
import { usePolled } from '../polled.js';

export function ServiceStrip() {
  const { value, problem } = usePolled(() => ask<ServiceStatus>('/v1/status'), 5000, 'status');
  if (value === undefined)
    return problem === undefined ? null : (
      <p className="problem" role="alert">
        {problem}
      </p>
    );
  const { cells, waiting, spare, tenants, memoryBytes, startedAt, version } = value;
  const wrong = [
    ...(cells.lost > 0 ? [`${cells.lost} lost: they died or cannot be found; end them`] : []),
    ...(waiting > 0 ? [`${waiting} wait for their start`] : []),
  ];
  return (
    <section className="strip" aria-label="The service">
      <span className={`dot ${cells.lost > 0 ? 'bad' : waiting > 0 ? 'warn' : 'good'}`} aria-hidden="true" />
      <strong>{wrong.length === 0 ? 'Nothing is wrong.' : `${wrong.join('; ')}.`}</strong>
      <span>{spare} started ahead</span>
      <span>
        {tenants} {tenants === 1 ? 'tenant' : 'tenants'}
      </span>
      <span>service: {bytes(memoryBytes)}</span>
      <span>
        up {age(Date.now() - Date.parse(startedAt))}, version {version}
      </span>
    </section>
  );
}
