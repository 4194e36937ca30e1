/** Snapshots and forks: others begin with the files of a sandbox. Its memory and processes stay where they are. */
import type { FastifyInstance } from 'fastify';
import { checkRole } from '../../../service/service-keys.js';
import { E2bError } from '../e2b-errors.js';
import type { Sandbox } from '../e2b-sandbox.js';
import { body, query } from './control-input.js';
import type { Control } from './control-routes.js';
import { networkOfFork } from './sandbox-network.js';
import { forkSchema, snapshotListSchema, snapshotSchema } from './sandbox-schemas.js';
import { openedView } from './sandbox-views.js';
import { findSnapshot, hasId, isCalled, nameOf, type Snapshot, snapshotsOf } from './snapshots.js';
import { isTemplate, templateFor } from './template-routes.js';

export function snapshotRoutes(app: FastifyInstance, control: Control): void {
  const { parts, sandboxes } = control;
  const { cells, checkpoints } = parts;

  app.post('/sandboxes/:id/snapshots', async (request, reply) => {
    const asker = control.askerOf(request);
    const { record } = running(control.find(request, 'user'));
    const { name } = body(snapshotSchema, request);
    if (name !== undefined && isTemplate(cells.templates, name))
      throw new E2bError(400, `There is a template "${name}"; give the snapshot another name.`);
    const named = () =>
      name === undefined
        ? []
        : snapshotsOf(checkpoints.saved, { tenant: record.tenant }).filter((one) => isCalled(one, name));
    const checkFree = () => {
      const isTaken = (one: Snapshot) =>
        hasId(one, name ?? '') || (asker.cell !== undefined && one.record.cell !== asker.cell);
      if (named().some(isTaken))
        throw new E2bError(409, `Another snapshot is called "${name}"; give this one another name.`);
    };
    checkFree();
    const facts = { protocol: 'e2b', template: record.template, ...(name !== undefined && { name }) };
    const made = await checkpoints.create(record.tenant, record.id, name, facts);
    try {
      // Somebody else may have taken it meanwhile.
      checkFree();
    } catch (error) {
      await checkpoints.saved.remove(made.tenant, made.id);
      throw error;
    }
    // The name is that of the newest; without it nobody could reach those before.
    if (name !== undefined)
      for (const { record: old } of named())
        if (old.id !== made.id) await checkpoints.saved.remove(old.tenant, old.id);
    return reply.code(201).send(snapshotView({ record: made, facts }));
  });

  app.get('/snapshots', async (request, reply) => {
    const asker = control.askerOf(request);
    checkRole(asker, 'reader', 'list snapshots');
    const { sandboxID, name, limit, nextToken } = query(snapshotListSchema, request);
    const wanted = name === undefined ? undefined : findSnapshot(checkpoints.saved, asker, name);
    const all = snapshotsOf(checkpoints.saved, asker).filter(
      ({ record }) =>
        (sandboxID === undefined || record.cell === sandboxID) &&
        (name === undefined || record.id === wanted?.record.id),
    );
    const after = nextToken === undefined ? 0 : all.findIndex(({ record }) => record.id === nextToken) + 1;
    const page = after === 0 && nextToken !== undefined ? [] : all.slice(after, after + limit);
    const last = page.at(-1);
    if (last !== undefined && after + limit < all.length) void reply.header('x-next-token', last.record.id);
    return page.map(snapshotView);
  });

  app.delete('/templates/:id', async (request, reply) => {
    const asker = control.askerOf(request);
    checkRole({ ...asker, cell: undefined }, 'user', 'remove snapshots');
    const { id } = request.params as { id: string };
    const found = findSnapshot(checkpoints.saved, asker, id);
    if (found === undefined) throw new E2bError(404, `There is no snapshot "${id}" that you can remove.`);
    await checkpoints.saved.remove(found.record.tenant, found.record.id);
    return reply.code(204).send();
  });

  app.post('/sandboxes/:id/fork', async (request, reply) => {
    const asker = control.askerOf(request);
    const { record } = running(control.find(request, 'user'));
    checkRole(asker, 'user', 'make sandboxes');
    const { count, timeout } = body(forkSchema, request);
    const { executor } = await sandboxes.open(record.id, request, reply);
    const { variables } = await executor.execute<'get_env'>({ action: 'get_env' });
    const template = templateFor(cells.templates, record.template);
    const { facts } = sandboxes.running(record.id);
    const network = networkOfFork(template, facts, record.tenant);
    const forked = await checkpoints.fork(record.tenant, record.id, {
      count,
      labels: {},
      ttlMs: timeout * 1000,
      more: {
        env: withoutHidden(variables),
        facade: { ...facts, openedBy: [asker.id] },
        ...(facts.autoPause && { onExpiry: 'pause' as const }),
        ...(network !== undefined && { network }),
      },
    });
    // Each of them has its files by now.
    await checkpoints.saved.remove(record.tenant, forked.checkpoint.id);
    const views = forked.cells.map(async (cell) => {
      const sandbox = sandboxes.of(cell);
      return { sandbox: openedView(sandbox, await sandboxes.tokensFor(sandbox, asker)) };
    });
    return reply.code(201).send(await Promise.all(views));
  });
}

function running(sandbox: Sandbox): Sandbox {
  const { id, state } = sandbox.record;
  if (state === 'running') return sandbox;
  throw new E2bError(409, `Sandbox "${id}" is ${state}; connect to it first.`);
}

/** The template brings secrets again; what we see of them is not their value. */
function withoutHidden(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => !value.includes('[hidden:')));
}

function snapshotView(snapshot: Snapshot): object {
  const { name } = snapshot.facts;
  return { snapshotID: nameOf(snapshot), names: name === undefined ? [] : [nameOf(snapshot)] };
}
