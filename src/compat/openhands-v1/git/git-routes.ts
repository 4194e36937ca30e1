import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { WorkcellError } from '../../../protocol/index.js';
import { findFileDiff } from '../../../runtime/git/file-diff.js';
import { findChanges, type GitChange } from '../../../runtime/git/git-changes.js';
import { findCommitChanges, findCommits, type GitCommit } from '../../../runtime/git/git-log.js';
import { callOf } from '../../../runtime/verb-call.js';
import { parse, Refusal, refusing } from '../detail-errors.js';
import type { FacadeContext } from '../facade-context.js';
import { words } from '../openhands-v1-messages.js';
import { absolute, numberSchema, pathSchema } from '../query-values.js';

const refSchema = z.string().min(1).max(1024);
const repositoryQuery = z.object({ path: pathSchema });
const changesQuery = repositoryQuery.extend({ ref: refSchema.optional() });
const diffQuery = changesQuery.extend({ commit: refSchema.optional() });
const commitsQuery = repositoryQuery.extend({
  limit: numberSchema.pipe(z.int().min(1).max(200)).default(50),
});
const shaSchema = z.object({ sha: z.string().regex(/^[0-9a-fA-F]{4,64}$/) });

export function gitRoutes(app: FastifyInstance, { executor, workspace }: FacadeContext): void {
  const call = () => callOf(executor());
  // A relative path starts at the workspace, because clients that know no other place send it.
  const place = (path: string) => absolute(path.startsWith('/') ? path : `${workspace}/${path}`);

  app.get('/api/git/changes', async ({ query }) => {
    const { path, ref } = parse(changesQuery, query, 'query');
    return shownChanges(await answer(findChanges(call(), place(path), { base: ref }), []));
  });

  app.get('/api/git/diff', ({ query }) => {
    const { path, ref, commit } = parse(diffQuery, query, 'query');
    if (ref !== undefined && commit !== undefined) throw new Refusal(400, words('git.ref_and_commit'));
    const nothing = { modified: null, original: null };
    return answer(findFileDiff(call(), place(path), { base: ref, commit }), nothing);
  });

  app.get('/api/git/commits', async ({ query }) => {
    const { path, limit } = parse(commitsQuery, query, 'query');
    const commits = await answer(findCommits(call(), place(path), { limit: limit + 1 }), []);
    return { commits: commits.slice(0, limit).map(shownCommit), has_more: commits.length > limit };
  });

  app.get('/api/git/commits/:sha/changes', async ({ query, params }) => {
    const { sha } = parse(shaSchema, params, 'path');
    const { path } = parse(repositoryQuery, query, 'query');
    return shownChanges(await answer(findCommitChanges(call(), place(path), sha), []));
  });
}

/** A directory that is missing or no repository has nothing to show. */
async function answer<Result>(work: Promise<Result>, nothing: Result): Promise<Result> {
  return refusing(
    work.catch((error: unknown) => {
      if (WorkcellError.isInstance(error) && ['not-a-repository', 'not-found'].includes(error.code))
        return nothing;
      throw error;
    }),
  );
}

const statuses = { added: 'ADDED', modified: 'UPDATED', deleted: 'DELETED', renamed: 'MOVED' };

function shownChanges(changes: readonly GitChange[]) {
  return changes.map(({ status, path }) => ({ status: statuses[status], path }));
}

function shownCommit({ id, shortId, subject, author, authoredAt }: GitCommit) {
  return { sha: id, short_sha: shortId, subject, author: author.name, timestamp: authoredAt };
}
