import { expect, test } from 'vitest';
import type { CellNews } from '../../src/protocol/service-wire.js';
import { waitForState, watchCells } from '../../src/service/watch-cells.js';
import { asked, failing, open, slowly, tenant } from './told-cells.js';

const never = new AbortController().signal;
const soon = { timeoutMs: 600_000, signal: never };
const brief = (news: CellNews | undefined) => {
  if (news?.type === 'cell') return [news.cell.name, news.cell.state];
  return news?.type;
};

test('a watch begins with all cells, and tells of each change that fits', async () => {
  const cells = await open();
  await cells.create(tenant, asked({ name: 'first', labels: { team: 'web' } }));
  await cells.create('b', asked({ name: 'theirs', labels: { team: 'web' } }));
  const leave = new AbortController();
  const watch = watchCells(
    cells,
    ({ tenant: whose, labels }) => whose === tenant && labels.team === 'web',
    leave.signal,
  );
  const next = async () => brief((await watch.next()).value ?? undefined);
  expect([await next(), await next()]).toEqual([['first', 'running'], 'all']);
  const waiting = next();
  await cells.pause('b', 'theirs');
  await cells.pause(tenant, 'first');
  expect(await waiting).toEqual(['first', 'paused']);
  await cells.change(tenant, 'first', { labels: {} });
  expect(await next()).toBe('gone');
  await cells.create(tenant, asked({ name: 'second', labels: { team: 'web' } }));
  // A reader that comes late finds what a cell is, not all that it was.
  expect(await next()).toEqual(['second', 'running']);
  await cells.remove(tenant, 'second');
  expect(await next()).toBe('gone');
  const last = watch.next();
  leave.abort();
  expect((await last).done).toBe(true);
});

test('waiting ends with the state, with the end of the cell, and with the time', async () => {
  const { slow, waiting } = slowly();
  const cells = await open({}, slow);
  const creating = cells.create(tenant, asked({ name: 'mine' }));
  const starting = cells.get(tenant, 'mine');
  expect((await waitForState(cells, starting, 'starting', soon)).id).toBe(starting.id);
  const running = waitForState(cells, starting, 'running', soon);
  waiting.shift()?.();
  const { record } = await creating;
  expect(await running).toMatchObject({ id: record.id, state: 'running' });
  const late = waitForState(cells, record, 'paused', { timeoutMs: 1, signal: never });
  await expect(late).rejects.toMatchObject({ code: 'timed-out', details: { state: 'running' } });
  const ended = waitForState(cells, record, 'paused', soon);
  await cells.remove(tenant, record.id);
  await expect(ended).rejects.toMatchObject({ code: 'cell-not-found' });
});

test('a cell that is lost is not waited for', async () => {
  const cells = await open();
  failing.close = true;
  const archive = { format: 'tar', data: '', path: '.' };
  await expect(cells.create(tenant, asked({ name: 'mine', archive }))).rejects.toThrow('no files');
  const waiting = waitForState(cells, cells.get(tenant, 'mine'), 'running', soon);
  await expect(waiting).rejects.toMatchObject({ code: 'runtime-disconnected' });
  expect((await waitForState(cells, cells.get(tenant, 'mine'), 'lost', soon)).state).toBe('lost');
});
