/** A git server on loopback that answers only to one token: `git http-backend` behind node:http. */
import { execFileSync, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeDirectory, Repository } from './repository.js';

export interface GitServer {
  readonly host: string;
  /** The served repository, bare. */
  readonly url: string;
  readonly directory: string;
  /** Every `Authorization` that came, decoded. */
  readonly seen: (string | undefined)[];
  /** Sends all requests to another server, from now on. */
  redirectTo(url: string | undefined): void;
}

export async function startGitServer(token: string): Promise<GitServer> {
  const root = makeDirectory();
  const source = new Repository(join(root, 'source'));
  source.write('README.md', 'hello\n');
  source.commit('first');
  source.write('second', '2\n');
  source.commit('second');
  source.git('tag', 'v1');
  const directory = join(root, 'project.git');
  source.git('clone', '-q', '--bare', source.path, directory);
  execFileSync('git', ['-C', directory, 'config', 'http.receivepack', 'true']);
  const seen: (string | undefined)[] = [];
  let elsewhere: string | undefined;
  const server = createServer((request, response) => {
    const given = request.headers.authorization?.replace(/^Basic /, '');
    const credentials = given === undefined ? undefined : Buffer.from(given, 'base64').toString();
    seen.push(credentials);
    if (elsewhere !== undefined) {
      response.writeHead(302, { location: `${elsewhere}${request.url}` }).end();
      return;
    }
    if (credentials?.split(':')[1] !== token) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    serve(root, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    url: `http://${host}/project.git`,
    directory,
    seen,
    redirectTo(url) {
      elsewhere = url;
    },
  };
}

/** One request as a CGI program wants it. */
function serve(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'tester',
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => {});
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdout.on('end', () => {
    const answer = Buffer.concat(chunks);
    const end = answer.indexOf('\r\n\r\n');
    const headers = answer
      .subarray(0, end)
      .toString()
      .split('\r\n')
      .map((line) => line.split(': ', 2) as [string, string]);
    const status = headers.find(([name]) => name === 'Status')?.[1];
    response.writeHead(status === undefined ? 200 : Number.parseInt(status, 10), Object.fromEntries(headers));
    response.end(answer.subarray(end + 4));
  });
}
