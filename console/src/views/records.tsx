/** The records in the store: of running cells, and of ended ones. */
import { useState } from 'react';
import type { RecordList as Records } from '../../../src/protocol/record-wire.js';
import { changeQuery, hrefOf, usePlace } from '../address.js';
import { ask } from '../api.js';
import { age, duration, moment } from '../format.js';
import { Empty, Problem } from '../parts/state.js';
import { Plain } from '../parts/text.js';
import { usePolled } from '../polled.js';
import { visible } from '../visible.js';

const shownAtOnce = 500;

export function RecordList() {
  const { query } = usePlace();
  const records = usePolled(() => ask<Records>('/v1/records?limit=1000'), 5000, 'records');
  const text = query.get('text') ?? '';
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const choose = (id: string, on: boolean) =>
    setChosen(on ? [...chosen, id].slice(-2) : chosen.filter((other) => other !== id));
  const [before, after] = chosen;
  const fitting = (records.value?.records ?? []).filter(({ id }) => id.includes(text));
  return (
    <div className="page">
      <div className="tools">
        <h1>Records</h1>
        <span className="hint">
          {records.value !== undefined &&
            `${records.value.next === undefined ? '' : 'the last '}${records.value.records.length} runs, the newest first`}
        </span>
        <span className="space" />
        {before !== undefined && after !== undefined ? (
          <a className="button" href={hrefOf(['compare', before, after])}>
            Compare the two
          </a>
        ) : (
          <span className="hint wide-only">Choose two to compare them.</span>
        )}
        <input
          type="search"
          placeholder="Id"
          aria-label="Filter records"
          value={text}
          onChange={(event) => changeQuery({ text: event.target.value })}
        />
      </div>
      {records.problem !== undefined && <Problem text={records.problem} />}
      {records.value !== undefined && fitting.length === 0 ? (
        <Empty title={text === '' ? 'There is no record yet.' : 'No record fits.'} />
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">
                <span className="only-read">Compare</span>
              </th>
              <th scope="col">Runtime</th>
              <th scope="col">Began</th>
              <th scope="col">Lasted</th>
              <th scope="col">Last event</th>
              <th scope="col">Events</th>
            </tr>
          </thead>
          <tbody>
            {fitting.slice(0, shownAtOnce).map(({ id, firstAt, lastAt, firstId, lastId }) => (
              <tr key={id}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Compare ${visible(id)}`}
                    checked={chosen.includes(id)}
                    onChange={(event) => choose(id, event.target.checked)}
                  />
                </td>
                <td className="who">
                  <a href={hrefOf(['records', id])}>
                    <Plain value={id} />
                  </a>
                </td>
                <td data-name="Began">{moment(firstAt)}</td>
                <td data-name="Lasted">{duration(lastAt - firstAt)}</td>
                <td data-name="Last event">{age(Date.now() - lastAt)} ago</td>
                <td data-name="Events">{lastId - firstId + 1}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
