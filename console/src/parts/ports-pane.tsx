/** A port of the cell as a link, on an address of its own: what a cell serves never shares the page of the console. */
import { useState } from 'react';
import type { Preview } from '../../../src/protocol/service-wire.js';
import { ask, cellPath, reasonOf } from '../api.js';
import { moment } from '../format.js';
import { Problem } from './state.js';

export function PortsPane({ cell }: { cell: string }) {
  const [port, setPort] = useState('3000');
  const [links, setLinks] = useState<readonly Preview[]>([]);
  const [problem, setProblem] = useState<string>();
  const make = async () => {
    setProblem(undefined);
    try {
      const link = await ask<Preview>(`${cellPath(cell)}/previews`, {
        method: 'POST',
        body: { port: Number(port) },
      });
      setLinks([link, ...links]);
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  return (
    <div className="page narrow">
      <form
        className="tools"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <h2>Link to a port</h2>
        <input
          type="number"
          aria-label="Port"
          min={1}
          max={65_535}
          value={port}
          onChange={(event) => setPort(event.target.value)}
          required
        />
        <button type="submit" className="main">
          Make a link
        </button>
      </form>
      <p className="hint">Whoever has the link may use that port of the cell, for an hour.</p>
      {problem !== undefined && <Problem text={problem} />}
      <ul className="isolation">
        {links.map(({ url, port: to, expiresAt }) => (
          <li key={url}>
            <strong>{to}</strong>
            {/^https?:\/\//.test(url) && (
              <a href={url} target="_blank" rel="noopener noreferrer">
                {url}
              </a>
            )}
            <span className="hint">until {moment(Date.parse(expiresAt))}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
