import { expect, test } from 'vitest';
import { PreviewConnections } from '../../src/service/previews/preview-connections.js';

test('connections count for one cell of one server, and leaving twice frees one place', () => {
  const [first, second] = [new PreviewConnections(), new PreviewConnections()];
  const left = Array.from({ length: 64 }, () => first.enter('a'))[0];
  expect(() => first.enter('a')).toThrow(expect.objectContaining({ code: 'rate-limited' }));
  first.enter('b');
  second.enter('a');
  left?.();
  left?.();
  first.enter('a');
  expect(() => first.enter('a')).toThrow(expect.objectContaining({ code: 'rate-limited' }));
});
