/** `filesystem.Filesystem`: what clients list, make, move, remove and watch. */
import { posix } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { WorkcellError } from '../../../protocol/index.js';
import { isGone, RpcError, toRpcError } from '../e2b-errors.js';
import type { OpenSandbox } from '../e2b-sandboxes.js';
import { message, RpcStream } from './connect-rpc.js';
import { showEntry } from './entry-info.js';
import { insidePath } from './inside-path.js';
import { type WatchEvent, watch } from './watchers.js';

const path = z.string().max(4096).default('');
const pathSchema = z.object({ path });
const listSchema = z.object({ path, depth: z.int().min(0).max(64).default(0) });
const moveSchema = z.object({ source: path, destination: path });
const watchSchema = z.object({
  path,
  recursive: z.boolean().default(false),
  includeEntry: z.boolean().default(false),
});
const watcherSchema = z.object({ watcherId: z.string() });

/** How many entries of a directory are looked at together. */
const shownAtOnce = 32;

type SandboxOf = (request: FastifyRequest) => OpenSandbox;

export function filesystemService(app: FastifyInstance, sandboxOf: SandboxOf, options: object): void {
  const unary = (name: string, handler: (sandbox: OpenSandbox, body: unknown) => Promise<object>) =>
    app.post(`/filesystem.Filesystem/${name}`, options, (request) =>
      handler(sandboxOf(request), request.body),
    );

  unary('Stat', async (sandbox, body) => {
    const found = await stat(sandbox, message(pathSchema, body).path);
    return { entry: await showEntry(sandbox, found) };
  });

  unary('ListDir', async (sandbox, body) => {
    const { path, depth } = message(listSchema, body);
    const asked = insidePath(path, sandbox.home);
    const { path: real, entries } = await sandbox.executor.execute<'list'>({
      action: 'list',
      path: asked,
      depth: Math.max(1, depth),
      limit: 100_000,
    });
    const shown: object[] = [];
    // Links are followed, each with actions of its own.
    for (let from = 0; from < entries.length; from += shownAtOnce) {
      const some = entries.slice(from, from + shownAtOnce);
      const named = some.map((entry) =>
        showEntry(sandbox, entry, posix.join(asked, posix.relative(real, entry.path))),
      );
      shown.push(...(await Promise.all(named)));
    }
    return { entries: shown };
  });

  unary('MakeDir', async (sandbox, body) => {
    const path = insidePath(message(pathSchema, body).path, sandbox.home);
    const { created } = await sandbox.executor
      .execute<'make_dir'>({ action: 'make_dir', path })
      .catch((error: unknown) => {
        const isFile = WorkcellError.isInstance(error) && error.code === 'already-exists';
        throw isFile
          ? new RpcError('invalid_argument', `path already exists but it is not a directory: ${path}`)
          : error;
      });
    if (!created) throw new RpcError('already_exists', `directory already exists: ${path}`);
    return { entry: await showEntry(sandbox, await stat(sandbox, path)) };
  });

  unary('Move', async (sandbox, body) => {
    const { source, destination } = message(moveSchema, body);
    const from = insidePath(source, sandbox.home);
    const to = insidePath(destination, sandbox.home);
    await stat(sandbox, from);
    await sandbox.executor.execute<'make_dir'>({ action: 'make_dir', path: posix.dirname(to) });
    await sandbox.executor.execute<'move'>({ action: 'move', from, to, overwrite: true });
    sandbox.state.metadata.move(from, to);
    return { entry: await showEntry(sandbox, await stat(sandbox, to)) };
  });

  unary('Remove', async (sandbox, body) => {
    const path = insidePath(message(pathSchema, body).path, sandbox.home);
    await sandbox.executor.execute<'remove'>({ action: 'remove', path, recursive: true, force: true });
    sandbox.state.metadata.move(path, undefined);
    return {};
  });

  unary('CreateWatcher', async (sandbox, body) => {
    const { directory, recursive, shown } = await watched(sandbox, body);
    const watcherId = await sandbox.state.watchers.create(sandbox.executor, directory, recursive, shown);
    return { watcherId };
  });
  unary('GetWatcherEvents', async ({ state }, body) => ({
    events: state.watchers.take(message(watcherSchema, body).watcherId),
  }));
  unary('RemoveWatcher', async ({ state }, body) => {
    state.watchers.remove(message(watcherSchema, body).watcherId);
    return {};
  });

  app.post('/filesystem.Filesystem/WatchDir', options, async (request, reply) => {
    const sandbox = sandboxOf(request);
    const outgoing = new RpcStream(request, reply, sandbox.state.streams, { keepalive: {} });
    try {
      const { directory, recursive, shown } = await watched(sandbox, request.body);
      // The first message tells the client that it misses nothing from now on, so events wait for it.
      let begun: () => void = () => {};
      const hasBegun = new Promise<void>((resolve) => {
        begun = resolve;
      });
      await watch(sandbox.executor, directory, recursive, {
        signal: outgoing.gone,
        event: async (event) => {
          await hasBegun;
          await outgoing.send({ filesystem: await shown(event) });
        },
        end: (error) => {
          if (isGone(error)) outgoing.cut();
          else void outgoing.end(error === undefined ? undefined : toRpcError(error));
        },
      });
      await outgoing.send({ start: {} });
      begun();
    } catch (error) {
      await outgoing.end(toRpcError(error));
    }
    return reply;
  });
}

async function stat({ executor, home }: OpenSandbox, path: string) {
  return executor.execute<'stat'>({ action: 'stat', path: insidePath(path, home) });
}

async function watched(sandbox: OpenSandbox, body: unknown) {
  const { path, recursive, includeEntry } = message(watchSchema, body);
  const directory = insidePath(path, sandbox.home);
  const { type } = await stat(sandbox, directory);
  if (type !== 'directory') throw new RpcError('invalid_argument', `path ${directory} is not a directory`);
  const shown = async ({ name, type, path }: WatchEvent) => {
    const isThere = includeEntry && type !== 'EVENT_TYPE_REMOVE';
    // A file may no longer exist by now.
    const entry = isThere ? await stat(sandbox, path).catch(() => undefined) : undefined;
    return { name, type, ...(entry !== undefined && { entry: await showEntry(sandbox, entry) }) };
  };
  return { directory, recursive, shown };
}
