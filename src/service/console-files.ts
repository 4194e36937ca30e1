/** The built console: static files that need no key, under a policy that lets nothing else run or load. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { WorkcellError } from '../protocol/index.js';

/** Where a build of the package has the console. */
const builtFiles = fileURLToPath(new URL('../console/', import.meta.url));

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/**
 * The terminal of the page writes its own style sheets, so styles may be inline. Scripts may not, and the browser
 * itself refuses whatever would turn text into markup.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
}

/** `directory`: another build than the package's. Files load on the first request for the page. */
export function consoleRoutes(app: FastifyInstance, directory: string = builtFiles): void {
  let files: ReadonlyMap<string, ConsoleFile> | undefined;
  const config = { open: true };
  app.get('/', { config }, (_request, reply) => reply.redirect('/console/'));
  app.get('/console', { config }, (_request, reply) => reply.redirect('/console/'));
  app.get('/console/*', { config }, async (request, reply) => {
    files ??= load(directory);
    const { '*': name = '' } = request.params as { '*'?: string };
    const file = files.get(name === '' ? 'index.html' : name);
    if (file === undefined) throw missing(name, files.size);
    return reply
      .headers({
        'content-type': file.type,
        'content-security-policy': policy,
        'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      .send(file.body);
  });
}

function load(directory: string): Map<string, ConsoleFile> {
  let names: string[];
  try {
    names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  } catch {
    return new Map();
  }
  return new Map(
    names.flatMap((name) => {
      const type = types[name.split('.').at(-1) ?? ''];
      return type === undefined ? [] : [[name, { type, body: readFileSync(join(directory, name)) }] as const];
    }),
  );
}

function missing(name: string, count: number): WorkcellError {
  return new WorkcellError(
    'not-found',
    count === 0
      ? 'This build has no console; "npm run build" makes it.'
      : `The console has no file ${JSON.stringify(name)}.`,
  );
}
