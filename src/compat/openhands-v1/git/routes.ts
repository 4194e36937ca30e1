import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { WorkcellError } from '../../../protocol/index.js';
import type { FacadeContext } from '../context.js';
import { parse, Refusal } from '../errors.js';
import { absolute, numberSchema, pathSchema } from '../values.js';
import { findChanges } from './changes.js';
import { findCommitChanges, findCommits } from './commits.js';
import { findDiff } from './diff.js';

const refSchema = z.string().min(1).max(1024);
const repositoryQuery = z.object({ path: pathSchema });
const changesQuery = repositoryQuery.extend({ ref: refSchema.optional() });
const diffQuery = changesQuery.extend({ commit: refSchema.optional() });
const commitsQuery = repositoryQuery.extend({
  limit: numberSchema.pipe(z.int().min(1).max(200)).default(50),
});
const shaSchema = z.object({ sha: z.string().regex(/^[0-9a-fA-F]{4,64}$/) });

export function gitRoutes(app: FastifyInstance, { executor, workspace }: FacadeContext): void {
  // A relative path is one from the workspace, as clients that know no other place give it.
  const place = (path: string) => absolute(path.startsWith('/') ? path : `${workspace}/${path}`);

  app.get('/api/git/changes', ({ query }) => {
    const { path, ref } = parse(changesQuery, query, 'query');
    return asBadRequest(findChanges(executor(), place(path), ref));
  });

  app.get('/api/git/diff', async ({ query }) => {
    const { path, ...states } = parse(diffQuery, query, 'query');
    if (states.ref !== undefined && states.commit !== undefined)
      throw new Refusal(400, 'Give either ref or commit, not both.');
    return asBadRequest(findDiff(executor(), place(path), states));
  });

  app.get('/api/git/commits', ({ query }) => {
    const { path, limit } = parse(commitsQuery, query, 'query');
    return asBadRequest(findCommits(executor(), place(path), limit));
  });

  app.get('/api/git/commits/:sha/changes', ({ query, params }) => {
    const { sha } = parse(shaSchema, params, 'path');
    const { path } = parse(repositoryQuery, query, 'query');
    return asBadRequest(findCommitChanges(executor(), place(path), sha));
  });
}

/** A path that cannot be used is a mistake in the request, whatever is the matter with it. */
async function asBadRequest<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const isAboutPath =
      WorkcellError.isInstance(error) &&
      ['not-found', 'not-a-directory', 'permission-denied', 'spawn-failed'].includes(error.code);
    throw isAboutPath ? new Refusal(400, error.message) : error;
  }
}
