/** A browser that never answers an order. Its pages can bring that about; each action is answered all the same. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findChromium } from '../../../../src/cell/plugins/browser/find-chromium.js';
import { createRuntime } from '../../../../src/index.js';

/** Stands before Chromium and keeps back each order that the file names. */
const standIn = (chromium: string, silent: string) => `#!${process.execPath}
const { spawn } = require('node:child_process');
const { createReadStream, createWriteStream, readFileSync } = require('node:fs');
const browser = spawn(${JSON.stringify(chromium)}, process.argv.slice(2), {
  stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'],
});
browser.on('exit', () => process.exit());
browser.stdio[4].pipe(createWriteStream('', { fd: 4 }));
let rest = '';
createReadStream('', { fd: 3, encoding: 'utf8' }).on('data', (text) => {
  const messages = (rest + text).split('\\0');
  rest = messages.pop();
  for (const message of messages)
    if (JSON.parse(message).method !== readFileSync(${JSON.stringify(silent)}, 'utf8'))
      browser.stdio[3].write(message + '\\0');
}).on('end', () => browser.stdio[3].end());
`;

test.concurrent.each(['Target.getTargets', 'Page.stopLoading', 'Debugger.disable'])('%s', async (order) => {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-test-'));
  const silent = join(directory, 'silent');
  const program = join(directory, 'chromium');
  const chromium = execFileSync('sh', ['-c', findChromium], { encoding: 'utf8' }).trim();
  writeFileSync(silent, '');
  writeFileSync(program, standIn(chromium, silent));
  chmodSync(program, 0o755);
  const runtime = await createRuntime({
    config: false,
    backend: 'cli',
    plugins: [{ name: 'browser', options: { program, parkAfterMs: 0 } }],
  });
  try {
    await runtime.browse('data:text/html,<title>before</title>');
    // Its pages pause meanwhile.
    const { output: port } = await runtime.run(
      'python3 -c "import os, socket; s = socket.create_server((\'127.0.0.1\', 0)); print(s.getsockname()[1], flush=True); os.fork() and os._exit(0); os.dup2(os.open(os.devnull, 1), 1); os.dup2(1, 2); import time; time.sleep(1e6)"',
    );
    writeFileSync(silent, order);
    const during = await runtime.browse(`http://localhost:${port.trim()}/`, { timeoutMs: 1000 });
    expect(during.error).not.toBeNull();
    writeFileSync(silent, '');
    // The first one may meet a browser that is about to end; the next one has a new one.
    await runtime.browse('about:blank').catch(() => {});
    expect(await runtime.browse('data:text/html,<title>after</title>')).toMatchObject({
      title: 'after',
      error: null,
    });
  } finally {
    await runtime.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
