/** Everyday programs in a place as bare as a real cell, with the filter on. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bubblewrap, obstacle } from './cell.js';

const path = '/usr/local/bin:/usr/bin:/bin:/usr/local/go/bin:/usr/sbin';
const place = [
  ...['--unshare-all', '--die-with-parent', '--new-session', '--uid', '1000', '--gid', '1000'],
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--dir', '/tmp/home'],
  ...['--chdir', '/tmp/home', '--clearenv', '--setenv', 'HOME', '/tmp/home', '--setenv', 'PATH', path],
  ...['--setenv', 'TERM', 'xterm', '--setenv', 'LANG', 'C.UTF-8'],
];

interface Program {
  readonly title: string;
  readonly needs: readonly string[];
  readonly script: string;
  readonly prints: string | RegExp;
}

const programs: readonly Program[] = [
  {
    title: 'bash with pipes and subshells',
    needs: ['bash'],
    script: 'for i in 1 2 3; do (echo $i) & done | sort | tr -d "\\n"; wait',
    prints: '123',
  },
  {
    title: 'bash with job control on a terminal',
    needs: ['script', 'ps'],
    script: `cat > job <<'END'
sh -c 'kill -STOP $$; ps -o tpgid=,pgid= -p $$ | xargs -n1 | uniq | wc -l' &
until [ "$(jobs -s)" ]; do :; done
jobs; fg
END
      script -qec 'bash -m job' /dev/null`,
    // A job in the foreground is in the terminal's own process group.
    prints: /Stopped[^\n]*\n[^\n]*\n1\r?\n$/,
  },
  {
    title: 'node with files, workers, children and a server',
    needs: ['node'],
    script: `node -e '
      const { Worker } = require("node:worker_threads");
      const http = require("node:http");
      require("node:fs").writeFileSync("file", "text");
      const child = require("node:child_process").execFileSync("cat", ["file"]).toString();
      new Worker("require(\\"node:worker_threads\\").parentPort.postMessage(1)", { eval: true }).on("message", () => {
        const server = http.createServer((_, response) => response.end("served")).listen(0, "127.0.0.1", async () => {
          const answer = await fetch("http://127.0.0.1:" + server.address().port);
          console.log(child, await answer.text());
          server.close(); server.closeAllConnections();
        });
      });'`,
    prints: 'text served',
  },
  {
    title: 'npm packing and installing a package',
    needs: ['npm'],
    script: `mkdir one two && echo '{"name":"one","version":"1.0.0"}' > one/package.json && cd two && npm init -y >/dev/null &&
      npm install --offline --no-audit --no-fund "$(npm pack --silent ../one)" >/dev/null && ls node_modules`,
    prints: 'one',
  },
  {
    title: 'python with threads, processes and sockets',
    needs: ['python3'],
    script: `python3 -c '
import asyncio, concurrent.futures as f, multiprocessing, subprocess, tempfile
assert subprocess.run(["true"]).returncode == 0
with f.ThreadPoolExecutor() as pool: threads = sum(pool.map(abs, range(4)))
with f.ProcessPoolExecutor(2) as pool: processes = sum(pool.map(abs, range(4)))
async def talk():
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
    await asyncio.open_connection(*server.sockets[0].getsockname())
    child = await asyncio.create_subprocess_exec("true")
    return await child.wait()
print(threads, processes, asyncio.run(talk()), multiprocessing.cpu_count() > 0)'`,
    prints: '6 6 0 True',
  },
  {
    title: 'gcc and the program it makes',
    needs: ['gcc'],
    script: `printf '#include <stdio.h>\\nint main(void){puts("hello");return 0;}' > a.c && gcc -O2 -pthread a.c && ./a.out`,
    prints: 'hello',
  },
  {
    title: 'git',
    needs: ['git'],
    script: `git init -q one && cd one && git config user.name a && git config user.email a@b && echo 1 > f && git add f &&
      git commit -qm first && cd .. && git clone -q one two && cd two && git gc -q && git log --format=%s`,
    prints: 'first',
  },
  {
    title: 'tar, archives and links',
    needs: ['tar', 'gzip'],
    script:
      'mkdir d && echo 1 > d/f && ln -s f d/l && chmod 1775 d && tar czf a.tgz d && rm -r d && tar xzf a.tgz && cat d/l',
    prints: '1',
  },
  {
    title: 'Go',
    needs: ['go'],
    script: `printf 'package main\\nimport ("fmt"; "net")\\nfunc main() { l, e := net.Listen("tcp", "127.0.0.1:0"); fmt.Println(l != nil, e) }' > a.go &&
      GOFLAGS=-mod=mod GOTOOLCHAIN=local CGO_ENABLED=0 go run a.go`,
    prints: 'true <nil>',
  },
  {
    title: 'a JVM',
    needs: ['java'],
    script: 'java -Xmx64m -version 2>&1 | grep -c "Server VM"',
    prints: '1',
  },
  {
    title: 'tmux',
    needs: ['tmux'],
    script:
      'tmux -S s new-session -d "echo in-tmux; exec sleep 100" && until tmux -S s capture-pane -p | grep in-tmux; do :; done; tmux -S s kill-server',
    prints: 'in-tmux',
  },
  {
    title: 'vim',
    needs: ['vim'],
    script: 'vim -es -u NONE -c "normal ihello" -c "wq" f; cat f',
    prints: 'hello',
  },
  {
    title: 'the address list and the listening sockets',
    needs: ['ip', 'ss'],
    script: `ip -o addr show lo | grep -c 127.0.0.1; python3 -c '
import socket, subprocess
s = socket.create_server(("127.0.0.1", 4567))
print(subprocess.run(["ss", "-tln"], stdout=-1, stderr=-3).stdout.decode().count("4567"))'`,
    prints: '1\n1',
  },
  {
    title: 'headless Chromium, its own sandbox off',
    needs: ['chromium'],
    script: `chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --dump-dom 'data:text/html,<p>drawn</p>' 2>/dev/null`,
    prints: /<p>drawn<\/p>/,
  },
];

const missing = (program: string) =>
  !path.split(delimiter).some((directory) => existsSync(join(directory, program)));

describe.skipIf(obstacle)(obstacle ?? 'under the filter', () => {
  for (const { title, needs, script, prints } of programs) {
    test(`${title} works`, async (context) => {
      const absent = needs.filter(missing);
      if (absent.length > 0) return context.skip(`not installed: ${absent.join(', ')}`);
      const finished = await bubblewrap([...place, 'bash', '-c', script]);
      if (typeof prints === 'string') expect(finished.stdout.trim(), finished.stderr).toBe(prints);
      else expect(finished.stdout, finished.stderr).toMatch(prints);
      expect(finished.exitCode).toBe(0);
    });
  }
});
