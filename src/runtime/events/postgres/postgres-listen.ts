import { WorkcellError } from '../../../protocol/index.js';
import type { Watch } from '../event-store.js';

/**
 * A separate connection that hears of each write. When it breaks, the watcher looks again and finds the store
 * unreachable.
 */
export async function listen(url: string, runtimeId: string, onChange: () => void): Promise<Watch> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, application_name: 'workcell' });
  client.on('error', onChange);
  client.on('notification', ({ payload }) => {
    if (payload === runtimeId) onChange();
  });
  try {
    await client.connect();
    await client.query('LISTEN workcell_events');
  } catch (error) {
    await client.end().catch(() => {});
    throw error instanceof Error ? error : new WorkcellError('store-unavailable', String(error));
  }
  return { close: () => void client.end().catch(() => {}) };
}
