/** What the cell enforces, in plain words. */
import { describeFact } from '../../../src/protocol/facts.js';
import type { ServerInfo } from '../../../src/protocol/wire.js';
import { ask, cellPath } from '../api.js';
import { usePolled } from '../polled.js';
import { Problem } from './state.js';
import { Plain } from './text.js';

export function IsolationPane({ cell }: { cell: string }) {
  const info = usePolled(() => ask<ServerInfo>(`${cellPath(cell)}/v1/info`), 0, cell);
  const { isolation } = info.value ?? {};
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="page narrow" aria-label="Isolation" tabIndex={0}>
      {info.problem !== undefined && <Problem text={info.problem} />}
      {isolation !== undefined && (
        <>
          <h2>Isolation: {isolation.tier}</h2>
          <ul className="isolation">
            {isolation.facts.map((fact) => {
              const [, sentence = ''] = /^[^:]+: ([\s\S]*)$/.exec(describeFact(fact)) ?? [];
              return (
                <li key={fact.code}>
                  <span className={`dot ${fact.enforced ? 'good' : 'warn'}`} aria-hidden="true" />
                  <div>
                    <strong>{fact.code.replaceAll('-', ' ')}</strong>
                    <span className="hint">{fact.enforced ? ' enforced' : ' not enforced'}</span>
                    <div>
                      <Plain value={sentence} />
                    </div>
                  </div>
                </li>
              );
            })}
          </ul>
        </>
      )}
    </section>
  );
}
