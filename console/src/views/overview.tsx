/** All cells that the key may see, and what each of them did last. */
import { useRef, useState } from 'react';
import type { Activity } from '../../../src/protocol/record-wire.js';
import type { CellPage, ServiceCell } from '../../../src/protocol/service-wire.js';
import { changeQuery, hrefOf, usePlace } from '../address.js';
import { ask } from '../api.js';
import { age, bytes, moment } from '../format.js';
import { CellActions } from '../parts/cell-actions.js';
import { NewCell } from '../parts/new-cell.js';
import { ServiceStrip } from '../parts/service-strip.js';
import { Empty, Problem, State } from '../parts/state.js';
import { Mono, Plain } from '../parts/text.js';
import { usePolled } from '../polled.js';
import { Rates } from '../rates.js';

interface Row extends ServiceCell {
  readonly activity: Activity | undefined;
  /** Of one processor. */
  readonly cpuPercent: number | undefined;
}

export function Overview({ everyone, mayMake }: { everyone: boolean; mayMake: boolean }) {
  const { query } = usePlace();
  const [adding, setAdding] = useState(false);
  const rates = useRef(new Rates());
  const cells = usePolled(() => allCells(everyone), 2000, 'cells');
  // It takes longer, and a service that keeps no record still has cells to show.
  const activity = usePolled(() => ask<Activity[]>('/v1/activity?use=1'), 2000, 'activity').value;
  const state = query.get('state') ?? '';
  const text = query.get('text') ?? '';
  const all = rowsOf(cells.value ?? [], activity ?? [], rates.current);
  const rows = all.filter((row) => (state === '' || row.state === state) && fits(row, text));
  const count = (word: string) => all.filter((row) => row.state === word).length;
  return (
    <div className="page">
      <div className="tools">
        <h1>Cells</h1>
        <fieldset className="chips">
          <legend className="only-read">State</legend>
          <Chip label="All" count={all.length} on={state === ''} value={undefined} />
          {['running', 'paused', 'starting', 'lost']
            .filter((word) => count(word) > 0 || state === word)
            .map((word) => (
              <Chip key={word} label={word} count={count(word)} on={state === word} value={word} />
            ))}
        </fieldset>
        <span className="space" />
        <input
          type="search"
          placeholder="Name, label, template, tenant"
          aria-label="Filter cells"
          value={text}
          onChange={(event) => changeQuery({ text: event.target.value })}
        />
        {mayMake && (
          <button type="button" className="main" onClick={() => setAdding(true)}>
            New cell
          </button>
        )}
      </div>
      {everyone && <ServiceStrip />}
      {adding && <NewCell onClose={() => setAdding(false)} onMade={cells.refresh} />}
      {cells.problem !== undefined && <Problem text={cells.problem} />}
      {cells.value !== undefined && rows.length === 0 ? (
        <Empty title={all.length === 0 ? 'There are no cells yet.' : 'No cell fits.'}>
          {all.length === 0 && (
            <p>
              Make one here, or let a program do it: <code>workcell run --backend service</code>.
            </p>
          )}
        </Empty>
      ) : (
        <table className="cells">
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">Cell</th>
              <th scope="col">Template</th>
              <th scope="col">Tenant</th>
              <th scope="col">Isolation</th>
              <th scope="col">Age</th>
              <th scope="col">CPU</th>
              <th scope="col">Memory</th>
              <th scope="col">Last action</th>
              <th scope="col">
                <span className="only-read">Change</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <CellRow key={row.id} row={row} onChange={cells.refresh} />
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function Chip(props: { label: string; count: number; on: boolean; value: string | undefined }) {
  const { label, count, on, value } = props;
  return (
    <button type="button" aria-pressed={on} onClick={() => changeQuery({ state: value })}>
      {label} <span className="count">{count}</span>
    </button>
  );
}

function CellRow({ row, onChange }: { row: Row; onChange: () => void }) {
  const { id, name, labels, activity, cpuPercent, createdAt } = row;
  const now = Date.now();
  return (
    <tr>
      <td>
        <State word={row.state} />
      </td>
      <td className="who">
        <a href={hrefOf(['cells', id])}>{name ?? id.slice(0, 8)}</a>
        {Object.entries(labels).map(([label, value]) => (
          <span key={label} className="label">
            <Plain value={value === '' ? label : `${label}=${value}`} />
          </span>
        ))}
      </td>
      <td data-name="Template">{row.template}</td>
      <td data-name="Tenant">{row.tenant}</td>
      <td data-name="Isolation">{row.isolation ?? '–'}</td>
      <td data-name="Age" title={moment(Date.parse(createdAt))}>
        {age(now - Date.parse(createdAt))}
      </td>
      <td data-name="CPU" className="num">
        {cpuPercent === undefined ? '–' : `${cpuPercent.toFixed(0)} %`}
      </td>
      <td data-name="Memory" className="num">
        {activity?.use === undefined ? '–' : bytes(activity.use.memoryBytes)}
      </td>
      <td className="last">
        {activity?.action !== undefined && (
          <>
            <span className="ago">{age(now - activity.at)}</span> <Mono value={activity.action} />
          </>
        )}
      </td>
      <td className="change">
        <CellActions cell={row} onChange={onChange} />
      </td>
    </tr>
  );
}

/** The newest first. */
function rowsOf(cells: readonly ServiceCell[], activity: readonly Activity[], rates: Rates): Row[] {
  const byId = new Map(activity.map((one) => [one.id, one]));
  return cells
    .map((cell) => {
      const own = byId.get(cell.id);
      return { ...cell, activity: own, cpuPercent: rates.percent(cell.id, own?.use) };
    })
    .toSorted((left, right) => (left.createdAt < right.createdAt ? 1 : -1));
}

/** `everyone`: the cells of all tenants. */
async function allCells(everyone: boolean): Promise<ServiceCell[]> {
  const found: ServiceCell[] = [];
  let cursor = '';
  do {
    const page: CellPage = await ask(
      `/v1/cells?limit=1000${everyone ? '&tenant=*' : ''}${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    found.push(...page.cells);
    cursor = page.next ?? '';
  } while (cursor !== '');
  return found;
}

function fits({ id, name, template, tenant, labels }: Row, text: string): boolean {
  const words = [id, name, template, tenant, ...Object.entries(labels).map((pair) => pair.join('='))];
  return words.some((word) => word?.toLowerCase().includes(text.toLowerCase()));
}
