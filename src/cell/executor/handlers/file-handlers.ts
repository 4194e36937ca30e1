import { decodeBase64 } from '../files/bytes.js';
import { inspect, listDirectory } from '../files/inspect.js';
import { makeDirectory } from '../files/make-directory.js';
import { readFile } from '../files/read-file.js';
import { remove as removePath } from '../files/remove.js';
import { copy as copyPath, move as movePath } from '../files/transfer.js';
import { watch as watchPath } from '../files/watch-files.js';
import { appendFile, writeFile } from '../files/write-file.js';
import type { Handler } from '../handler-context.js';

export const read: Handler<'read'> = (action, { tree }, { signal }) => readFile(tree, action, signal);

export const write: Handler<'write'> = async ({ path, content, encoding, mode, append }, { tree }) => {
  const data = encoding === 'base64' ? decodeBase64(content) : Buffer.from(content);
  const written = await (append ? appendFile : writeFile)(tree, path, data, mode);
  return { observation: 'write', ...written };
};

export const list: Handler<'list'> = async ({ path, depth, limit }, { tree }, { signal }) => {
  return { observation: 'list', ...(await listDirectory(tree, path, { depth, limit, signal })) };
};

export const stat: Handler<'stat'> = ({ path }, { tree }) => ({
  observation: 'stat',
  ...inspect(tree, path),
});

export const makeDir: Handler<'make_dir'> = ({ path, mode }, { tree }) => {
  return { observation: 'make_dir', ...makeDirectory(tree, path, mode) };
};

export const remove: Handler<'remove'> = async ({ path, recursive, force }, { tree }, { signal }) => {
  return { observation: 'remove', ...(await removePath(tree, path, { recursive, force, signal })) };
};

export const move: Handler<'move'> = async ({ from, to, overwrite }, { tree }, { signal }) => {
  const moved = await movePath(tree, from, to, { overwrite, signal });
  return { observation: 'move', from: moved.from, to: moved.to };
};

export const copy: Handler<'copy'> = async ({ from, to, overwrite }, { tree }, { signal }) => {
  return { observation: 'copy', ...(await copyPath(tree, from, to, { overwrite, signal })) };
};

export const watch: Handler<'watch'> = async ({ path, recursive }, { tree }, context) => {
  return { observation: 'watch', ...(await watchPath(tree, path, { recursive, ...context })) };
};
