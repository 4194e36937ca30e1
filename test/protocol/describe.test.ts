/** What an action carries, by the kinds of its fields. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { mcpActions } from '../../src/cell/plugins/mcp/mcp-actions.js';
import { actions, defineAction, describeAction, verbs, withoutSecrets } from '../../src/protocol/index.js';

const carried = (definition: Parameters<typeof describeAction>[0], action: Record<string, unknown>) =>
  describeAction(definition, { action: 'x', ...action }).map(({ field: _, group: __, ...rest }) => rest);

test('a command, its directory, its variables and its input are told apart', () => {
  expect(
    carried(actions.start_process, {
      argv: ['bash'],
      cwd: 'src',
      env: { A: '1' },
      stdin: Buffer.from('ls').toString('base64'),
      encoding: 'base64',
      keepStdin: true,
    }),
  ).toEqual([
    { kind: 'argv', argv: ['bash'], input: 'ls', open: true },
    { kind: 'path', access: 'cwd', path: 'src' },
    { kind: 'variable', name: 'A', value: '1' },
  ]);
});

test('what is typed into a running command is input, and the same text otherwise shell source', () => {
  expect(carried(actions.run, { command: 'y', session: 's', input: true })).toEqual([
    { kind: 'input', text: 'y', target: 's', keys: true },
  ]);
  expect(carried(actions.run, { command: 'y', session: 's' })).toEqual([
    { kind: 'shell', source: 'y', target: 's' },
  ]);
});

test('objects, lists and tables are taken apart, and what belongs together says so', () => {
  const servers = { a: { command: 'npx', args: ['-y', 'x'], env: { K: 'v' } }, b: { url: 'http://h/' } };
  expect(describeAction(mcpActions.connect_mcp, { action: 'connect_mcp', servers })).toEqual([
    { field: 'servers.a.command', group: 'servers.a', kind: 'argv', argv: ['npx', '-y', 'x'] },
    { field: 'servers.a.env', group: 'servers.a', kind: 'variable', name: 'K', value: 'v' },
    { field: 'servers.b.url', group: 'servers.b', kind: 'address', address: 'http://h/' },
  ]);
  expect(carried(actions.edit, { path: 'f', edits: [{ oldText: 'a', newText: 'b' }] })).toEqual([
    { kind: 'path', access: 'write', path: 'f' },
    { kind: 'content', path: 'f', text: 'b', append: false, part: true },
  ]);
  expect(carried(verbs.upload, { path: '/home/u', format: 'tar', members: ['.bashrc'] })).toContainEqual({
    kind: 'path',
    access: 'write',
    path: '/home/u/.bashrc',
  });
});

test('a field without a kind is unknown, at any depth, and so is one whose value does not fit', () => {
  const odd = defineAction('odd', {
    summary: 'Has a field that nobody described.',
    input: { text: z.string(), inner: z.object({ a: z.string(), b: z.string() }), count: z.int() },
    kinds: { inner: { fields: { a: 'plain' } } } as never,
    output: {},
  });
  expect(carried(odd, { text: 'x', inner: { a: 'x', b: 'y' }, count: 1 })).toEqual([
    { kind: 'unknown', value: 'x' },
    { kind: 'unknown', value: 'y' },
  ]);
  expect(carried(undefined, { anything: ['x'] })).toEqual([{ kind: 'unknown', value: ['x'] }]);
  expect(carried(actions.run, { command: { a: 'ls' } })).toEqual([{ kind: 'unknown', value: { a: 'ls' } }]);
  expect(carried(actions.run, { constructor: 'ls' })).toEqual([{ kind: 'unknown', value: 'ls' }]);
});

test('base64 is read as Node reads it, whatever it is made of', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
        fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64url')),
      ),
      (data) => {
        const [input] = carried(actions.write_process, { id: 'p', data, encoding: 'base64' });
        expect(input).toMatchObject({ text: Buffer.from(data, 'base64').toString() });
      },
    ),
  );
});

test('a secret is shown nowhere, and a reference to one is', () => {
  const servers = {
    a: { url: 'http://h/', headers: { Authorization: 'Bearer abc', Other: 'Bearer ${TOKEN}' } },
  };
  expect(withoutSecrets(mcpActions.connect_mcp, { action: 'connect_mcp', servers })).toEqual({
    action: 'connect_mcp',
    servers: { a: { url: 'http://h/', headers: { Authorization: '[secret]', Other: 'Bearer ${TOKEN}' } } },
  });
  const run = { action: 'run', command: 'ls' };
  expect(withoutSecrets(actions.run, run)).toBe(run);
});
