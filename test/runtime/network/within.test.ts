/** What an operator said beyond which nothing is reached: neither code, nor answers, nor changes get around it. */
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../../src/protocol/network/address.js';
import { networkRulesSchema } from '../../../src/protocol/network/network-schema.js';
import { NetworkPolicy } from '../../../src/runtime/network/network-policy.js';
import { openGateway, openTcp, openWeb, question, readAll } from './open-gateway.js';

const beyond = 'it is beyond what the rules in `within` allow';
const get = (host: string) => `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

async function openCell(rules: Parameters<typeof openGateway>[0]) {
  const place = await openWeb((_request, response) => response.end('came'));
  const names = ['a.test', 'b.test', 'c.test'];
  const hosts = Object.fromEntries(names.map((name) => [name, place]));
  return openGateway({ hosts, ...rules, within: [place, ...(rules.within ?? [])] });
}

describe('rules within those of an operator', () => {
  test('allow what both allow', async () => {
    const { say, event, gateway } = await openCell({
      allow: ['a.test', 'b.test'],
      within: ['b.test', 'c.test'],
    });
    expect(await say('b.test', 80, get('b.test'))).toContain('came');
    expect(await say('a.test', 80, get('a.test'))).toContain('403 Forbidden');
    expect(await event('refused')).toMatchObject({ host: 'a.test', reason: beyond });
    // Nobody is asked about a name that cannot be reached.
    expect((await gateway.query(question('c.test')))?.readUInt16BE(6)).toBe(1);
    expect(await say('c.test', 80, get('c.test'))).toContain('403 Forbidden');
  });

  test('can be widened to them, and no further', async () => {
    const { say, gateway } = await openCell({ allow: [], within: ['b.test'] });
    await gateway.change((rules) => ({ ...rules, allow: ['**', '**:*', '0.0.0.0/0:*'] }));
    expect(await say('b.test', 80, get('b.test'))).toContain('came');
    expect(await say('a.test', 80, get('a.test'))).toContain(beyond);
    expect(await say('203.0.113.9', 80, get('203.0.113.9'))).toContain(beyond);
    await gateway.change(() => ({ allow: ['a.test'] }));
    expect(gateway.rules().within).toContain('b.test');
    for (const within of [[], ['**'], ['a.test']])
      await expect(gateway.change((rules) => ({ ...rules, within }))).rejects.toMatchObject({
        code: 'invalid-config',
      });
    expect(await say('a.test', 80, get('a.test'))).toContain(beyond);
  });

  test('stay the same in another order', async () => {
    const { gateway } = await openGateway({ within: ['a.test', 'b.test'] });
    await gateway.change((rules) => ({ ...rules, within: ['b.test', 'a.test', 'b.test'] }));
    expect(gateway.rules().within).toEqual(['a.test', 'b.test']);
  });

  test('ask about nothing beyond them', async () => {
    const { say, gateway } = await openCell({ ask: true, within: ['b.test'] });
    const asked: string[] = [];
    gateway.answerWith(async ({ host }) => {
      asked.push(host);
      return 'cell' as const;
    });
    expect(await say('a.test', 80, get('a.test'))).toContain(beyond);
    expect(await say('b.test', 80, get('b.test'))).toContain('came');
    expect(asked).toEqual(['b.test']);
  });

  test('lead no name to an address beyond them', async () => {
    const place = await openTcp((socket) => socket.end('reached'));
    const { say, event } = await openCell({
      allow: ['a.test:22'],
      within: ['a.test:22', '127.0.0.1:1'],
      hosts: { 'a.test': place },
    });
    expect(await say('a.test', 22, '')).toBe('reset');
    expect(await event('refused')).toMatchObject({ host: 'a.test', reason: beyond });
    // The same of what a resolver says.
    const judged = (...within: string[]) =>
      new NetworkPolicy(
        networkRulesSchema.parse({ allow: ['a.test:22', '10.0.0.0/8:22'], within: ['a.test:22', ...within] }),
      ).decideAddress(parseAddress('10.1.2.3') as never, 22).allowed;
    expect(judged()).toBe(false);
    expect(judged('0.0.0.0/0:22')).toBe(false);
    expect(judged('10.1.0.0/16:80')).toBe(false);
    expect(judged('10.1.0.0/16:22')).toBe(true);
  });

  test('end what they do not allow where they come later', async () => {
    const place = await openTcp((socket) => socket.on('data', (bytes) => socket.write(bytes)));
    const { dial, gateway } = await openGateway({
      allow: ['a.test:22', 'b.test:22'],
      hosts: { 'a.test': place, 'b.test': place },
    });
    const [first, second] = [await dial('a.test', 22), await dial('b.test', 22)];
    first.write('one');
    second.write('two');
    await Promise.all([once(first, 'data'), once(second, 'data')]);
    const ended = readAll(first);
    await gateway.change((rules) => ({ ...rules, within: ['b.test:22', place] }));
    await ended;
    second.write('still there');
    expect(String((await once(second, 'data'))[0])).toBe('still there');
  });
});
