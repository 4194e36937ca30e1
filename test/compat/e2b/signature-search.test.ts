import { createHash } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Sandbox } from '../../../src/compat/e2b/e2b-sandbox.js';
import { SignatureSearch } from '../../../src/compat/e2b/envd/signature-search.js';

/** Sandboxes that count how many of their tokens somebody looks at. */
function counted(sandboxes: number, keys: number) {
  let looked = 0;
  const all = Array.from({ length: sandboxes }, (_, at) => {
    const entries = Array.from({ length: keys }, (_, key) => [
      `key-${key}`,
      {
        get access() {
          looked++;
          return `token-${at}-${key}`;
        },
        traffic: '',
      },
    ]) as [string, { access: string; traffic: string }][];
    return { record: { id: `cell-${at}` }, facts: { secure: true }, tokens: new Map(entries) };
  }) as unknown as Sandbox[];
  return { all, looked: () => looked };
}

const forged = (at: number) => ({ path: `${at}`, signature: `v1_${'A'.repeat(43)}` });

function signed(path: string, token: string) {
  const digest = createHash('sha256').update(`${path}:read::${token}`).digest('base64');
  return { path, signature: `v1_${digest.replace(/=+$/, '')}` };
}

test('whoever sends forged signatures takes a bounded share of the service, and is told when to come again', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const { all, looked } = counted(1000, 8);
    const search = new SignatureSearch(() => all);
    const answers = await Promise.allSettled(
      Array.from({ length: 100 }, (_, at) => search.find(forged(at), 'read', `10.0.0.${at}`)),
    );
    const refused = answers.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBe(88);
    expect(looked()).toBe(12 * 8000);
    expect(refused[0]).toMatchObject({
      reason: { code: 'rate-limited', details: { retryAfterMs: expect.any(Number) } },
    });
    vi.advanceTimersByTime(1000);
    expect(await search.find(signed('file', 'token-999-7'), 'read', '10.1.0.1')).toBe(all[999]);
    // One that was right needs no second search.
    await expect(
      Promise.all(Array.from({ length: 20 }, (_, at) => search.find(forged(at), 'read', `10.0.0.${at}`))),
    ).rejects.toThrow();
    expect(await search.find(signed('file', 'token-999-7'), 'read', '10.1.0.1')).toBe(all[999]);
    expect(await search.find({ path: 'file', signature: 'v1_short' }, 'read', '10.1.0.1')).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

test('a stranger with forged signatures keeps nobody else from an address that is right', async () => {
  // What a source may have comes back with time, of which a slow machine takes more.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { all } = counted(100, 8);
  const search = new SignatureSearch(() => all);
  const right = (path: string, source: string) => search.find(signed(path, 'token-99-7'), 'read', source);
  // As one network of IPv6, and as one address of IPv4, however it is written.
  for (const source of [
    (at: number) => `2001:db8::${at}`,
    (at: number) => `${at % 2 ? '' : '::ffff:'}10.0.0.1`,
  ])
    await Promise.allSettled(
      Array.from({ length: 300 }, (_, at) => search.find(forged(at), 'read', source(at))),
    );
  for (const source of ['2001:db8:0:0:1::1', '10.0.0.1'])
    await expect(right(source, source)).rejects.toMatchObject({ code: 'rate-limited' });
  for (const source of ['2001:db8:0:1::1', '10.0.0.2']) expect(await right(source, source)).toBe(all[99]);
});

test('other work goes on during a search', async () => {
  const { all } = counted(1000, 32);
  const search = new SignatureSearch(() => all);
  let turns = 0;
  let over = false;
  const count = () => {
    turns++;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  await search.find(forged(0), 'write', '10.0.0.1');
  over = true;
  expect(turns).toBeGreaterThan(20);
});
