/** The verbs of a runtime do their work under the rules and the default policy, and leave nothing behind. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createRuntime, type Runtime, tool } from '../../../src/index.js';
import { rules } from '../../../src/runtime/security/index.js';
import { terminalToolkit } from '../../../src/runtime/tools/toolkits/terminal-toolkit.js';

const toolkitModule = new URL('../../../src/runtime/tools/toolkits/terminal-toolkit.ts', import.meta.url);

const directory = mkdtempSync(join(tmpdir(), 'workcell-honest-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** There is nobody to ask, so the policy refuses what needs a confirmation. */
async function guarded(use: (runtime: Runtime) => Promise<void>, rulesOf: object[] = []): Promise<void> {
  await using runtime = await createRuntime({
    backend: 'sandbox',
    config: false,
    guards: [rules()],
    policy: { rules: rulesOf as never },
  });
  await use(runtime);
}

test('a Python script of the owner runs, is judged by what is in it, and is gone afterwards', async () => {
  const script = join(directory, 'script.py');
  writeFileSync(script, 'import sys, os\nprint(sys.argv[1:], os.path.dirname(__file__))\n');
  const bad = join(directory, 'bad.py');
  writeFileSync(bad, 'import shutil\nshutil.rmtree("/etc")\n');
  await guarded(async (runtime) => {
    const { stdout, exitCode } = await runtime.execPythonFile(script, { args: ['a b'] });
    expect(exitCode).toBe(0);
    const [, place = ''] = /^\['a b'\] (\S+)$/.exec(stdout.trim()) ?? [];
    expect(place).toMatch(/^\/tmp\/workcell-script-/);
    await expect(runtime.execute({ action: 'stat', path: place })).rejects.toMatchObject({
      code: 'not-found',
    });
    await expect(runtime.execPythonFile(bad)).rejects.toMatchObject({ code: 'denied' });
    expect((await runtime.run('ls -A /tmp | grep -c workcell-script || true')).output.trim()).toBe('0');
  });
});

test('git prepares, commits, looks and goes to other branches; a rule for a command holds for its verb', async () => {
  await guarded(
    async (runtime) => {
      await runtime.write('.workcell/setup.sh', 'export READY=yes\n');
      await runtime.write('.workcell/pre-commit.sh', 'true\n');
      const git = await runtime.git.prepare();
      expect((await runtime.run('echo "$READY"')).output).toBe('yes\n');
      await runtime.write('a.txt', 'one\n');
      await git.commit('rm -rf / is only a message');
      await runtime.write('a.txt', 'two\n');
      expect((await git.status()).branch).toBe('main');
      expect((await git.changes()).map(({ path }) => path)).toContain('a.txt');
      expect((await git.diff()).patch).toContain('two');
      expect((await git.log()).length).toBe(1);
      await git.blame('a.txt', { ref: 'HEAD' });
      await git.commit('second', { author: { name: 'A', email: 'a@example.com' } });
      await git.workBranch();
      await git.checkout('main');
      const tree = await git.worktrees.add('/tmp/tree', { branch: 'side' });
      expect(await tree.branch()).toBe('side');
      await git.worktrees.remove('/tmp/tree');
      const copy = await runtime.git.clone(`file://${runtime.workspace}`, { into: '/tmp/copy' });
      await copy.fetch();
      await copy.pull();
      await expect(copy.push()).rejects.toMatchObject({ code: 'denied' });
    },
    [{ decision: 'deny', command: 'git push *' }],
  );
});

test('tools, toolkits, microagents, uploads and processes work', async () => {
  await guarded(async (runtime) => {
    const add = tool({
      name: 'add',
      description: 'Adds one.',
      parameters: z.object({ a: z.number() }),
      execute: ({ a }) => a + 1,
    });
    runtime.add(add).add(terminalToolkit(), toolkitModule);
    expect((await runtime.callTool('add', { a: 1 })).result).toBe(2);
    expect(JSON.stringify((await runtime.callTool('shell_exec', { command: 'echo hi' })).result)).toContain(
      'hi',
    );
    await expect(runtime.callTool('shell_exec', { command: 'rm -rf ~' })).rejects.toMatchObject({
      code: 'denied',
    });
    await runtime.write('.workcell/microagents/repo.md', '---\nname: repo\ntype: repo\n---\nBe kind.\n');
    await runtime.microagents.load();
    await runtime.files.upload(Buffer.from('x'), 'tree/x.txt');
    expect((await runtime.read('tree/x.txt')).content).toBe('x');
    const { id } = await runtime.processes.start(['cat'], { keepStdin: true });
    await runtime.processes.write(id, 'plain data\n', { end: true });
    expect((await runtime.processes.wait(id)).stdout).toBe('plain data\n');
  });
});
