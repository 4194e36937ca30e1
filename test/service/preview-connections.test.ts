import { expect, test } from 'vitest';
import { PreviewConnections } from '../../src/service/previews/preview-connections.js';

const full = expect.objectContaining({ code: 'rate-limited' });
const of = (id: string, tenant = 'one') => ({ id, tenant });

test('connections count for one cell of one server, and leaving twice frees one place', () => {
  const [first, second] = [new PreviewConnections(), new PreviewConnections()];
  const left = Array.from({ length: 64 }, () => first.enter(of('a')))[0];
  expect(() => first.enter(of('a'))).toThrow(full);
  first.enter(of('b'));
  second.enter(of('a'));
  left?.();
  left?.();
  first.enter(of('a'));
  expect(() => first.enter(of('a'))).toThrow(full);
});

test('the previews of one tenant leave connections for those of others', () => {
  const connections = new PreviewConnections();
  const cells = Array.from({ length: 16 }, (_, index) => of(`cell${index}`));
  const [leave] = cells.flatMap((cell) => Array.from({ length: 64 }, () => connections.enter(cell)));
  expect(() => connections.enter(of('another'))).toThrow(full);
  connections.enter(of('theirs', 'two'));
  leave?.();
  // What was refused has taken nothing.
  connections.enter(of('another'));
  expect(() => connections.enter(of('another'))).toThrow(full);
});
