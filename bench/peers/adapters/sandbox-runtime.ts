/** @anthropic-ai/sandbox-runtime as a library: it wraps each command, and has no session and no file calls. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { serve } from './adapter.js';
import { fromCache } from './from-cache.js';

interface SandboxRuntime {
  readonly SandboxManager: {
    initialize(config: object): Promise<void>;
    wrapWithSandbox(command: string, shell?: string, config?: object): Promise<string>;
    cleanupAfterCommand(): void;
    reset(): Promise<void>;
  };
}

const { SandboxManager } = await fromCache<SandboxRuntime>('@anthropic-ai/sandbox-runtime');
const network = { allowedDomains: [], deniedDomains: [] };
// One manager is for a whole process, and so are its proxies: a place is a directory that commands may write to.
let opened: Promise<void> | undefined;

await serve({
  async open() {
    const folder = mkdtempSync(join(tmpdir(), 'bench-peer-'));
    const filesystem = { denyRead: [], allowWrite: [folder], denyWrite: [] };
    opened ??= SandboxManager.initialize({ network, filesystem });
    await opened;
    async function run(command: string, input = ''): Promise<string> {
      const wrapped = await SandboxManager.wrapWithSandbox(command, undefined, { network, filesystem });
      const child = spawn('bash', ['-c', wrapped], { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] });
      child.stdin.on('error', () => {}).end(input);
      const [output, complaint, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit'),
      ]);
      SandboxManager.cleanupAfterCommand();
      if (code !== 0) throw new Error(`exit ${code}: ${complaint}`);
      return output;
    }
    return {
      run,
      write: async (path, content) => void (await run(`cat >${path}`, content)),
      read: (path) => run(`cat ${path}`),
      close: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
  end: () => SandboxManager.reset(),
});
