import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { writeTar } from '../../../src/base/tar-writer.js';
import { type Cell, WorkcellError } from '../../../src/protocol/index.js';
import { receiveTree } from '../../../src/runtime/checkpoints/receive-tree.js';
import { sendChanges } from '../../../src/runtime/checkpoints/send-changes.js';

const root = mkdtempSync(join(tmpdir(), 'hostile-cell-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

function empty(): string {
  const path = join(root, String(count++));
  mkdirSync(path);
  return path;
}

it('does not wait without end for a script that the cell stops, and ends it', async () => {
  const asked: string[] = [];
  const execute = async (action: { action: string; timeoutMs?: number }) => {
    asked.push(action.action);
    if (action.action === 'wait_process' && action.timeoutMs === undefined) return new Promise(() => {});
    if (action.action === 'wait_process') throw new WorkcellError('timed-out', 'It goes on.');
    return { id: 'p1' };
  };
  const cell = { workspace: '/workspace', executor: { execute, upload: async () => ({}) } };
  const sent = sendChanges(cell as unknown as Cell, { base: empty() }, [{ path: 'a', change: 'removed' }]);
  await expect(sent).rejects.toMatchObject({ code: 'timed-out' });
  expect(asked).toEqual(['start_process', 'wait_process', 'signal_process']);
});

it.each([
  ['bytes after its end', Buffer.alloc(1024)],
  ['a label without an end', labelOf(0o77777777777)],
])('refuses an archive with %s', async (_, start) => {
  async function* archive() {
    yield start;
    for (;;) {
      yield Buffer.alloc(4096);
      await new Promise(setImmediate);
    }
  }
  const received = receiveTree(archive(), empty(), { maxBytes: 1000, maxFiles: 10 }, { base: empty() });
  await expect(received).rejects.toMatchObject({ code: 'file-too-large' });
});

it('counts the directories that an entry implies', async () => {
  const members = ['a', 'b'].map((name) => ({ name: `${name}/${'d/'.repeat(6)}f` }));
  const [limits, like] = [{ maxFiles: 16 }, { base: empty() }];
  await receiveTree(writeTar(members), empty(), limits, like);
  const received = receiveTree(writeTar([...members, { name: 'f' }]), empty(), limits, like);
  await expect(received).rejects.toMatchObject({ code: 'file-too-large' });
});

/** A header that names a volume, with content that every reader skips. */
function labelOf(size: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(size.toString(8), 124);
  header.write('V', 156);
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0`, 148);
  return header;
}
