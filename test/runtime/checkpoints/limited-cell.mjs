/** Fills a workspace that has a limit, as the user that runs this, and prints what came of it as JSON. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [index, mode] = process.argv.slice(2);
const { createRuntime } = await import(index);
const root = mkdtempSync(join(tmpdir(), 'limited-'));
const from = join(root, 'from');
mkdirSync(join(from, 'dir'), { recursive: true, mode: 0o750 });
writeFileSync(join(from, 'file'), 'old\n');
writeFileSync(join(from, 'dir/inner'), 'inner\n');
const target = join(root, 'target');
mkdirSync(target);

const size = { bytes: 4 * 1024 * 1024, files: 100 };
const workspace = mode === 'empty' ? { mode, size } : { from, mode, size };
const runtime = await createRuntime({ config: false, backend: 'sandbox', workspace, plugins: [], tools: [] });
const text = async (cell, command) => (await cell.run(command)).output.trim();
const found = {};
try {
  found.fact = runtime.isolation.facts.find(({ code }) => code === 'workspace-size').enforced;
  found.begins = await text(runtime, 'stat -c %a .; cat file dir/inner 2>/dev/null');
  await runtime.run('echo kept > kept; chmod 640 kept; echo more >> file; rm -rf dir');
  const first = await runtime.checkpoint('first');
  found.bytes = Number(
    await text(runtime, 'dd if=/dev/zero of=hog bs=64k count=200 2>error; stat -c %s hog'),
  );
  found.error = /No space left/.test(
    await text(runtime, 'rm hog; dd if=/dev/zero of=hog bs=1M count=9 2>&1; rm hog'),
  );
  found.names = Number(
    await text(runtime, 'for i in {1..300}; do : > many-$i; done 2>/dev/null; ls | grep -c many; rm many-*'),
  );
  // By names and by bytes: there is no room to go back, and nothing changes.
  for (const fill of [
    'for i in {1..300}; do : > full-$i; done',
    'dd if=/dev/zero of=full-1 bs=64k count=200',
  ]) {
    await runtime.run(`${fill} 2>/dev/null`);
    const before = await text(runtime, 'ls -l | cksum');
    found.full ??= [];
    const { code } = await runtime.rewind(first).catch((error) => error);
    found.full.push(code ?? 'rewound', before === (await text(runtime, 'ls -l | cksum')));
    await runtime.run('rm -f full-*');
  }
  await runtime.rewind(first);
  const [fork] = await runtime.fork({ from: first });
  found.fork = await text(fork, 'cat kept file; ls -1');
  found.forkBytes = Number(
    await text(fork, 'dd if=/dev/zero of=hog bs=64k count=200 2>/dev/null; stat -c %s hog'),
  );
  found.forkFact = fork.isolation.facts.find(({ code }) => code === 'workspace-size').enforced;
  await fork.run('rm hog; echo theirs > theirs');
  found.merged = (await runtime.merge(fork)).applied;
  const second = await runtime.checkpoint();
  await runtime.rewind(first);
  found.rewound = await text(runtime, 'ls -1; stat -c %a kept');
  await runtime.rewind(second);
  await runtime.run('rm -f error');
  found.diff = (await runtime.diff()).map(({ change, path }) => `${change} ${path}`);
  // A fork of a fork outlives both, with all that lies below it.
  const [later] = await fork.fork();
  await runtime.close();
  await fork.close();
  found.later = await text(later, 'cat kept; ls -1');
  await later.apply(target, { onConflict: 'overwrite' });
  found.applied = readFileSync(join(target, 'kept'), 'utf8').trim();
  await later.close();
  found.untouched =
    readFileSync(join(from, 'file'), 'utf8') === 'old\n' && existsSync(join(from, 'dir/inner'));
  found.mounts = execFileSync('cat', ['/proc/self/mountinfo'], { encoding: 'utf8' }).includes('limited');
  process.stdout.write(JSON.stringify(found));
} finally {
  await runtime.close();
  rmSync(root, { recursive: true, force: true });
}
