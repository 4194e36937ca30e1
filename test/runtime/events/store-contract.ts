/** What every event store does. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { WorkcellEvent } from '../../../src/protocol/index.js';
import type { EventStore, ReadQuery } from '../../../src/runtime/events/event-store.js';
import { follow } from '../../../src/runtime/events/follow-events.js';

interface StoreUnderTest {
  /** Opens the same store each time. */
  open(): Promise<EventStore>;
  /** Whether what one has appended is there for another that opens it later. */
  readonly lasting: boolean;
  /** Whether it keeps to a size. */
  readonly sized: boolean;
}

let runtimes = 0;

export function describeStore(name: string, { open, lasting, sized }: StoreUnderTest): void {
  describe(name, () => {
    let store: EventStore;
    let id: string;

    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());
    beforeEach(() => {
      id = `runtime-${++runtimes}`;
    });

    const action = (number: number, command: string, more: Partial<WorkcellEvent> = {}) =>
      ({
        kind: 'action',
        id: number,
        at: 1000 + number,
        runtimeId: id,
        source: 'agent',
        action: { action: 'run', command },
        ...more,
      }) as WorkcellEvent;
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => action(index + 1, `echo ${index + 1}`));
    const read = async (query: Partial<ReadQuery> = {}) => [
      ...(await store.read(id, { after: 0, limit: 1000, ...query })),
    ];
    const ids = async (query: Partial<ReadQuery> = {}) => (await read(query)).map((event) => event.id);

    test('a message is found by its kind and its runtime, and takes one reply', async () => {
      const message = {
        id: `${id}-message`,
        runtimeId: id,
        kind: 'action' as const,
        at: 1,
        expiresAt: Date.now() + 60_000,
        body: '{"a":"\\u0000é"}',
      };
      await store.mailbox.put(message);
      expect(await store.mailbox.list('action', id)).toEqual([message]);
      expect(await store.mailbox.list('confirmation', id)).toEqual([]);
      expect((await store.mailbox.list('action')).some((found) => found.id === message.id)).toBe(true);
      expect(await store.mailbox.reply(message.id, '"first"')).toBe(true);
      expect(await store.mailbox.reply(message.id, '"second"')).toBe(false);
      expect(await store.mailbox.reply(message.id, '"second"', '"first"')).toBe(true);
      expect(await store.mailbox.list('action', id)).toEqual([{ ...message, reply: '"second"' }]);
      await store.mailbox.remove(message.id);
      expect(await store.mailbox.list('action', id)).toEqual([]);
      expect(await store.mailbox.reply(message.id, '"third"')).toBe(false);
    });

    test('a message and its reply wake who watches the runtime', async () => {
      let woken = () => {};
      const watch = await store.watch(id, () => woken());
      const next = () => new Promise<void>((resolve) => (woken = resolve));
      let change = next();
      const expiresAt = Date.now() + 60_000;
      await store.mailbox.put({
        id: `${id}-wake`,
        runtimeId: id,
        kind: 'action',
        at: 1,
        expiresAt,
        body: '{}',
      });
      await change;
      change = next();
      await store.mailbox.reply(`${id}-wake`, '1');
      await change;
      watch.close();
      await store.mailbox.remove(`${id}-wake`);
    });

    test('lines of the ledger follow each other, also when several are added at once', async () => {
      const { sequence: before } = await store.ledger.head();
      const add = (text: string) =>
        store.ledger.append(({ sequence, hash }) => ({
          sequence: sequence + 1,
          hash: `${hash.slice(-40)}-${text}`,
          line: text,
        }));
      await Promise.all(['a', 'b', 'c'].map(async (text) => add(text)));
      const lines = await store.ledger.read(before, 100);
      expect(lines.map(({ sequence }) => sequence)).toEqual([before + 1, before + 2, before + 3]);
      expect(lines.map(({ line }) => line).sort()).toEqual(['a', 'b', 'c']);
      expect(await store.ledger.head()).toEqual({ sequence: before + 3, hash: lines.at(-1)?.hash });
    });

    test('gives back what was appended, in order and unchanged', async () => {
      const events: WorkcellEvent[] = [
        { ...base(1), kind: 'status', status: { status: 'READY', level: 'info', message: 'ready' } },
        { ...base(2), kind: 'action', action: { action: 'run', command: 'echo \u0000 \ud800 é\n"' } },
        {
          ...base(3),
          kind: 'decision',
          cause: 2,
          decision: {
            at: 5,
            outcome: 'allow',
            by: 'risk',
            risk: 'low',
            reasons: [],
            verdicts: [],
            policyVersion: 'v',
          },
        },
        {
          ...base(4),
          kind: 'observation',
          cause: 2,
          observation: { observation: 'run', output: 'x\n', exitCode: 0 },
        },
        { ...base(5), kind: 'error', cause: 2, error: { code: 'denied', message: 'no', details: {} } },
      ];
      await store.append(events);
      expect(await read()).toEqual(events);
      expect(await store.last(id)).toBe(5);
    });

    test('keeps all of a batch or nothing of it', async () => {
      if (!lasting) return;
      await store.append(many(2));
      await expect(async () => store.append([action(3, 'new'), action(2, 'again')])).rejects.toMatchObject({
        code: 'store-unavailable',
      });
      expect(await ids()).toEqual([1, 2]);
    });

    test('reads pages from a cursor', async () => {
      await store.append(many(25));
      expect(await ids({ after: 10, limit: 3 })).toEqual([11, 12, 13]);
      expect(await ids({ after: 23 })).toEqual([24, 25]);
      expect(await ids({ after: 10, before: 13 })).toEqual([11, 12]);
      expect(await ids({ after: 25 })).toEqual([]);
      expect(await store.read('another', { after: 0, limit: 10 })).toEqual([]);
    });

    test('filters by kind, source, time and text, all at once', async () => {
      await store.append([
        action(1, 'echo one'),
        action(2, 'echo "two"\n', { source: 'user' }),
        { ...base(3), kind: 'observation', cause: 1, observation: { observation: 'run', output: 'one' } },
        action(4, 'x'.repeat(10_000).concat('needle')),
      ]);
      expect(await ids({ kinds: ['observation'] })).toEqual([3]);
      expect(await ids({ sources: ['user', 'environment'] })).toEqual([2, 3]);
      expect(await ids({ from: 1002, until: 1004 })).toEqual([2, 3]);
      expect(await ids({ text: 'one' })).toEqual([1, 3]);
      expect(await ids({ text: 'echo "two"\n' })).toEqual([2]);
      expect(await ids({ text: 'needle' })).toEqual([4]);
      expect(await ids({ text: 'one', kinds: ['action'] })).toEqual([1]);
      // Names of fields are not text of an event, and a page of those alone does not end the search.
      expect(await ids({ text: 'command' })).toEqual([]);
      await store.append([action(5, 'command')]);
      expect(await ids({ text: 'command', limit: 1 })).toEqual([5]);
      expect(await ids({ text: '%' })).toEqual([]);
    });

    test('gives long texts back whole, wherever they stand', async () => {
      const long = `${'é"\\\n\u0000\ud800'.repeat(3000)}end`;
      const event = {
        ...base(1),
        kind: 'observation',
        cause: 1,
        observation: { observation: 'x', output: long, deep: [{ __proto__name: long }], same: long },
      } as WorkcellEvent;
      await store.append([event]);
      expect(await read()).toEqual([event]);
    });

    test('cuts long texts anywhere, when asked', async () => {
      const text = `${'\\'.repeat(3000)}${'\u0001'.repeat(3000)}${'é"'.repeat(3000)}`;
      await store.append([action(1, text), action(2, 'short')]);
      for (const cutTexts of Array.from({ length: 20 }, (_, index) => 5990 + index)) {
        const [long, short] = (await read({ cutTexts })).map(
          (event) => (event as { action?: { command?: string } }).action?.command ?? '',
        );
        expect(text.startsWith(long ?? '-')).toBe(true);
        if (lasting) expect(long?.length).toBeLessThan(6100);
        expect(long?.length).toBeGreaterThan(2900);
        expect(short).toBe('short');
      }
    });

    test('ends a page at its size, and goes on behind it', async () => {
      await store.append(
        Array.from({ length: 9 }, (_, index) => action(index + 1, String(index).repeat(5000))),
      );
      const seen: number[] = [];
      for (let after = 0; ; after = seen.at(-1) ?? after) {
        const page = await ids({ after, maxSize: 12_000 });
        if (page.length === 0) break;
        if (lasting) expect(page.length).toBeLessThanOrEqual(3);
        seen.push(...page);
      }
      expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(await ids({ text: '8'.repeat(5000), maxSize: 100 })).toEqual([9]);
    });

    test('lists runtimes, the youngest first', async () => {
      const [older, younger] = [`${id}-older`, `${id}-younger`];
      await store.append([
        action(1, 'a', { runtimeId: younger, at: 9_000_000_000_001 }),
        action(1, 'a', { runtimeId: older, at: 9_000_000_000_000 }),
        action(2, 'b', { runtimeId: older, at: 9_000_000_000_005 }),
      ]);
      expect((await store.runtimes()).slice(0, 2)).toEqual([
        {
          runtimeId: younger,
          firstId: 1,
          lastId: 1,
          firstAt: 9_000_000_000_001,
          lastAt: 9_000_000_000_001,
        },
        { runtimeId: older, firstId: 1, lastId: 2, firstAt: 9_000_000_000_000, lastAt: 9_000_000_000_005 },
      ]);
    });

    test('lists runtimes page by page, those that began last first, and none without events', async () => {
      const named = ['a', 'b', 'c', 'd'].map((name) => `${id}-${name}`) as [string, string, string, string];
      const begun = [8_000_000_000_000, 8_000_000_000_001, 8_000_000_000_001, 8_000_000_000_002];
      await store.append(
        named.flatMap((runtimeId, index) => [
          action(1, 'a', { runtimeId, at: begun[index] ?? 0 }),
          action(2, 'b', { runtimeId, at: 8_000_000_000_100 + index }),
        ]),
      );
      const seen: string[] = [];
      let before = { at: 8_000_000_000_003, id: '' };
      for (let page = 0; page < 2; page++) {
        const found = await store.page({ limit: 2, before });
        seen.push(...found.map(({ runtimeId }) => runtimeId));
        const last = found.at(-1);
        before = { at: last?.beganAt ?? 0, id: last?.runtimeId ?? '' };
      }
      expect(seen).toEqual(named.toReversed());
      const [, second, , fourth] = named;
      const chosen = { limit: 10, ids: [second, `${id}-none`, fourth] };
      expect(await store.page(chosen)).toMatchObject([
        { runtimeId: fourth, firstId: 1, lastId: 2, beganAt: begun[3] },
        { runtimeId: second, firstAt: begun[1], lastAt: 8_000_000_000_101, beganAt: begun[1] },
      ]);
      await compact({ olderThan: 8_000_000_000_102 });
      expect(await store.page(chosen)).toMatchObject([{ runtimeId: fourth, firstId: 2, lastId: 2 }]);
      await store.append([action(3, 'c', { runtimeId: second, at: 8_000_000_000_200 })]);
      expect(await store.page(chosen)).toMatchObject([
        { runtimeId: second, firstId: 3, beganAt: 8_000_000_000_200 },
        { runtimeId: fourth },
      ]);
    });

    test('removes what is older than wanted, and long texts that nothing uses any more', async () => {
      const old = 'old'.repeat(5000);
      const shared = 'shared'.repeat(5000);
      await store.append([
        action(1, old, { at: 10 }),
        action(2, shared, { at: 20 }),
        action(3, shared, { at: 900 }),
        action(4, 'new', { at: 1_000 }),
      ]);
      await compact({ olderThan: 500 });
      expect(await read()).toMatchObject([
        { id: 3, action: { command: shared } },
        { id: 4, action: { command: 'new' } },
      ]);
      await store.append([action(5, old)]);
      expect(await read({ after: 4 })).toMatchObject([{ action: { command: old } }]);
    });

    test('keeps to a size, the newest events staying', async () => {
      if (!sized) return;
      await store.append(
        Array.from({ length: 400 }, (_, index) => action(index + 1, `${index}`.repeat(3000).slice(0, 4000))),
      );
      await compact({ maxBytes: 400_000 });
      const left = await ids();
      expect(left.length).toBeLessThan(110);
      expect(left.at(-1)).toBe(400);
    });

    test('a watcher hears of what others append', async () => {
      const other = lasting ? await open() : store;
      const stop = new AbortController();
      const seen: number[] = [];
      try {
        await store.append(many(2));
        const following = (async () => {
          for await (const event of follow(other, id, { cursor: 1, signal: stop.signal })) {
            seen.push(event.id);
            if (event.id === 2) await store.append([action(3, 'c')]);
            if (event.id === 3)
              await store.append([
                {
                  ...base(4),
                  kind: 'status',
                  status: { status: 'STOPPED', level: 'info', message: 'stopped' },
                },
              ]);
          }
        })();
        await following;
        expect(seen).toEqual([2, 3, 4]);
      } finally {
        stop.abort();
        if (lasting) await other.close();
      }
    });

    test('many write at once, from several places', async () => {
      const others = lasting ? await Promise.all([open(), open(), open()]) : [store, store, store];
      await Promise.all(
        others.map(async (other, writer) => {
          for (let number = 1; number <= 50; number++)
            await other.append([action(number, 'x', { runtimeId: `${id}-${writer}` })]);
        }),
      );
      for (const writer of [0, 1, 2]) expect(await store.last(`${id}-${writer}`)).toBe(50);
      if (lasting) for (const other of others) await other.close();
    });

    test('is there again after it was closed', async () => {
      if (!lasting) return;
      const first = await open();
      await first.append(many(3));
      await first.close();
      const second = await open();
      expect(await second.last(id)).toBe(3);
      await second.close();
    });

    function base(number: number) {
      return { id: number, at: 1000 + number, runtimeId: id, source: 'environment' as const };
    }

    async function compact(retention: Parameters<EventStore['compact']>[0]): Promise<void> {
      while (await store.compact(retention)) await new Promise((resolve) => setImmediate(resolve));
    }
  });
}
