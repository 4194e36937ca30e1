/** Network rules on the command line. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startOnTerminal, workcell } from './workcell.js';

test('--allow and --deny are rules of the cell', async () => {
  const server = createServer((_request, response) => response.end('"here"\n')).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { stdout } = await workcell([
    'run',
    ...['--allow', '*.web.test', '--allow', place, '--deny', 'b.web.test'],
    `for host in ${place} b.web.test c.test; do curl -sS http://$host/; done`,
  ]);
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject(['here', { reason: 'a rule denies it' }, { reason: 'no rule allows this host' }]);
});

test('--network and --allow contradict each other', async () => {
  const words = ['run', '--backend', 'sandbox', '--network', 'open', '--allow', 'a.test', 'true'];
  const { exitCode, stderr } = await workcell(words);
  expect(exitCode).toBe(78);
  expect(stderr).toContain('--network');
});

test('--ask asks on the terminal, with the command that runs', async () => {
  const commands = 'curl -sS -x http://127.0.0.1:3128 http://localhost/; curl -sS http://two.test/';
  const { pty, printed, ended } = startOnTerminal(['run', '--ask', commands]);
  await printed('The cell wants to reach localhost:80.');
  await printed('running: curl -sS');
  await printed('[N]o');
  pty.write('o\r');
  await printed('two.test:80.');
  pty.write('\r');
  const { output } = await ended;
  // The answer lets the name through, which leads to an address that needs a rule of its own.
  expect(output.replace(/\s+/g, ' ')).toContain('needs a rule of its own');
  expect(output.replace(/\s+/g, ' ')).toContain('asked about and denied');
});
