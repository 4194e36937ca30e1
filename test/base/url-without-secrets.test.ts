import { expect, test } from 'vitest';
import { urlWithoutSecrets } from '../../src/base/url-without-secrets.js';

test.each([
  ['http://127.0.0.1:8700', 'http://127.0.0.1:8700'],
  ['unix:/run/cell socket', 'unix:/run/cell socket'],
  ['https://me:secret@example.com/below?token=secret#secret', 'https://example.com/below'],
  ['https://secret@example.com/below', 'https://example.com/below'],
  // No address of a program that reads them, and shown as the mistake that it is.
  ['http://me:secret@example.com:port/below?secret', 'http://example.com:port/below'],
  ['http://me:se/cret@[secret@host', 'http://host'],
  ['me:secret@example.com', 'example.com'],
  ['git@example.com:some/project', 'git@example.com:some/project'],
])('%s is shown as %s', (address, shown) => {
  expect(urlWithoutSecrets(address)).toBe(shown);
});
