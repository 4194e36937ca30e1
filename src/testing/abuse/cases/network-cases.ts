/** Ways to a network that a cell without one must not find. Nothing leaves this machine: there is no route to try. */
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isEnforced } from '../../../protocol/index.js';
import { type AbuseCase, demand, type Tools } from '../case.js';
import { permitted, python } from '../inside.js';

const shared: AbuseCase['unclaimed'] = (isolation) =>
  isEnforced(isolation, 'network') ? undefined : 'the cell has the network of this machine';

const metadata = [
  '169.254.169.254',
  'fd00:ec2::254',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '169.254.170.2',
];
const ranges = [
  '10.0.0.1',
  '172.16.0.1',
  '172.17.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '192.0.2.1',
  '203.0.113.1',
  'fe80::1',
  'fd00::1',
  '2001:db8::1',
];

const connectAll = (targets: readonly (readonly [string, number])[]) => `import socket
def attempt(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    connection = socket.socket(family)
    connection.settimeout(2)
    connection.connect((host, port))
answer({host: outcome(lambda: attempt(host, port)) for host, port in ${JSON.stringify(targets)}})`;

/** Answers that mean that no packet found a way. A time-out would mean that one left. */
const noWay = new Set([
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'EINVAL',
  'EPERM',
  'EACCES',
]);

function nothingReached(outcomes: Readonly<Record<string, string>>): string {
  const reached = Object.entries(outcomes).filter(([, outcome]) => !noWay.has(outcome));
  demand(
    reached.length === 0,
    `not without a way: ${reached.map(([host, outcome]) => `${host} (${outcome})`).join(', ')}`,
  );
  return `${Object.keys(outcomes).length} tried: ${[...new Set(Object.values(outcomes))].join(', ')}`;
}

/** A server on this machine's loopback that must not hear from the cell. */
async function listen(tools: Tools, host: string): Promise<{ port: number; heard(): number }> {
  let heard = 0;
  const server: Server = createServer((socket) => {
    heard++;
    socket.destroy();
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve));
  tools.finally(() => server.close());
  return { port: (server.address() as { port: number }).port, heard: () => heard };
}

const ownLoopback: AbuseCase['neighbour'] = async (runtime) =>
  void (await permitted(
    runtime,
    `python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 8080)); socket.create_connection(("127.0.0.1", 8080)); print(s.accept()[1][0])'`,
  ));

export const networkCases: readonly AbuseCase[] = [
  {
    id: '42.metadata',
    title: 'metadata services of clouds, by address and by name',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: shared,
    async attack(runtime) {
      const detail = nothingReached(
        await python(runtime, connectAll(metadata.map((host) => [host, 80] as const))),
      );
      const named = await python<string>(
        runtime,
        `import socket
socket.setdefaulttimeout(3)
def resolve(name):
    try: return socket.gethostbyname(name)
    except OSError: return ""
answer("".join(resolve(name) for name in ("metadata.google.internal", "instance-data", "metadata.azure.internal")))`,
        { timeoutMs: 40_000 },
      );
      demand(named === '', `a name led to ${named}`);
      return detail;
    },
    neighbour: ownLoopback,
  },
  {
    id: '43.loopback',
    title: 'this machine’s loopback and own addresses, in every spelling',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: shared,
    async attack(runtime, tools) {
      const { port, heard } = await listen(tools, '127.0.0.1');
      const own = Object.values(networkInterfaces())
        .flatMap((list) => list ?? [])
        .map(({ address }) => address);
      const spellings = [
        '127.0.0.1',
        '127.1',
        '2130706433',
        '0x7f000001',
        '0177.0.0.1',
        '0.0.0.0',
        '0',
        'localhost',
        '127.0.0.2',
        '::1',
        '::ffff:127.0.0.1',
        '::ffff:7f00:1',
        '::',
      ];
      const hosts = [...new Set([...spellings, ...own])];
      const detail = nothingReached(
        await python(runtime, connectAll(hosts.map((host) => [host, port] as const))),
      );
      demand(heard() === 0, `${heard()} connections arrived at a server of this machine`);
      return detail;
    },
    neighbour: ownLoopback,
  },
  {
    id: '43.ranges',
    title: 'private, shared and documentation ranges',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: shared,
    attack: async (runtime) =>
      nothingReached(await python(runtime, connectAll(ranges.map((host) => [host, 443] as const)))),
    neighbour: ownLoopback,
  },
  {
    id: '48.no-route',
    title: 'UDP, QUIC, ICMP, multicast and broadcast, past any proxy',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: shared,
    async attack(runtime) {
      return nothingReached(
        await python(
          runtime,
          `import socket
def send(family, kind, protocol, target):
    s = socket.socket(family, kind, protocol)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    s.sendto(b"x", target)
inet, inet6, datagram = socket.AF_INET, socket.AF_INET6, socket.SOCK_DGRAM
answer({
"udp": outcome(lambda: send(inet, datagram, 0, ("192.0.2.1", 53))),
"quic": outcome(lambda: send(inet, datagram, 0, ("192.0.2.1", 443))),
"udp6": outcome(lambda: send(inet6, datagram, 0, ("2001:db8::1", 53))),
"icmp": outcome(lambda: send(inet, datagram, 1, ("192.0.2.1", 0))),
"raw icmp": outcome(lambda: send(inet, socket.SOCK_RAW, 1, ("192.0.2.1", 0))),
"multicast": outcome(lambda: send(inet, datagram, 0, ("224.0.0.251", 5353))),
"broadcast": outcome(lambda: send(inet, datagram, 0, ("255.255.255.255", 67))),
})`,
        ),
      );
    },
    neighbour: ownLoopback,
  },
  {
    id: 'public.empty-allow-list',
    title: 'nothing allowed means nothing: no interface but loopback, no route, no resolver',
    expected: 'blocked',
    unclaimed: shared,
    async attack(runtime) {
      const interfaces = (
        await permitted(runtime, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")
      ).trim();
      demand(interfaces === 'lo', `interfaces: ${interfaces.split('\n').join(', ')}`);
      const routes = await permitted(
        runtime,
        'tail -n +2 /proc/net/route; grep -v " lo$" /proc/net/ipv6_route || true',
      );
      demand(routes.trim() === '', `routes: ${routes.trim()}`);
      const resolver = await permitted(runtime, 'grep -s nameserver /etc/resolv.conf || true');
      demand(resolver === '', `a resolver is named: ${resolver.trim()}`);
      return 'only loopback is there';
    },
    neighbour: async (runtime) => void (await permitted(runtime, 'test "$(cat /etc/hostname)" != ""')),
  },
];
