/** A PostgreSQL server of the tests' own: a data directory and a socket that go with it. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const installations = '/usr/lib/postgresql';

/** Where its programs are; undefined when it is not installed. */
export function findPostgres(): string | undefined {
  const versions = existsSync(installations) ? readdirSync(installations).sort() : [];
  return versions.map((version) => join(installations, version, 'bin')).findLast((path) => existsSync(path));
}

export interface PostgresServer {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startPostgres(programs: string): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-postgres-'));
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? plainUser() : undefined;
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
  const data = join(directory, 'data');
  const as = user === undefined ? {} : { uid: user.uid, gid: user.gid };
  execFileSync(
    join(programs, 'initdb'),
    ['--pgdata', data, '--auth', 'trust', '--username', 'tester', '--encoding', 'UTF8', '--no-sync'],
    { ...as, cwd: directory, stdio: 'ignore' },
  );
  const server = spawn(
    'setpriv',
    // It goes with the process that runs the tests, however that ends.
    [
      '--pdeathsig',
      'INT',
      join(programs, 'postgres'),
      '-D',
      data,
      '-k',
      directory,
      '-h',
      '',
      '-c',
      'fsync=off',
    ],
    { ...as, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const gone = once(server, 'exit');
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes('ready to accept connections')) resolve();
    });
    server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${log}`)));
  });
  return {
    url: `postgres://tester:not-needed@localhost/postgres?host=${encodeURIComponent(directory)}`,
    async stop() {
      server.kill('SIGINT');
      await gone;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function plainUser(): { uid: number; gid: number } {
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const [, , uid, gid] = (
    users.find((line) => line.startsWith('postgres:')) ??
    users.find((line) => line.startsWith('nobody:')) ??
    ''
  ).split(':');
  return { uid: Number(uid), gid: Number(gid) };
}
