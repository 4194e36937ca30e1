/** A server of the Model Context Protocol in the cell, connected to, listed and called. */
import type { Surface } from './surface.js';

const timeoutMs = 3000;

export const mcp: Surface = {
  backends: ['sandbox'],
  mostBytes: 384 << 20,

  async warmUp({ runtime, insideArgv }) {
    for (const seed of [1, 2, 3]) {
      const [command = '', ...args] = insideArgv('mcp', seed);
      await runtime.mcp.connect({ fuzz: { command, args } }, { timeoutMs }).catch(() => {});
      const signal = AbortSignal.timeout(timeoutMs);
      await runtime.execute({ action: 'list_mcp_tools' }, { signal }).catch(() => {});
      await runtime.mcp.call('act', {}, { timeoutMs }).catch(() => {});
    }
    await runtime.mcp.disconnect('fuzz').catch(() => {});
  },

  async round({ runtime, insideArgv, seed, random, answered, claim }) {
    const [command = '', ...args] = insideArgv('mcp', seed);
    const connected = await answered('mcp.connect', timeoutMs, (signal) =>
      runtime.mcp.connect({ fuzz: { command, args } }, { timeoutMs, signal }),
    );
    for (let count = 0; connected !== undefined && count < 4; count++) {
      await answered('mcp.call', timeoutMs, (signal) =>
        runtime.mcp.call('act', { text: 'a'.repeat(40) }, { timeoutMs, signal }),
      );
      if (random.chance(0.3))
        await answered('list_mcp_tools', timeoutMs, (signal) =>
          runtime.execute({ action: 'list_mcp_tools' }, { signal }),
        );
    }
    await answered('mcp.disconnect', 5000, () => runtime.mcp.disconnect('fuzz'));
    const names = (await runtime.mcp.servers()).map(({ name }) => name);
    claim(!names.includes('fuzz'), 'a server that was disconnected is still told');
    const left = await answered('the next command', 10_000, () =>
      runtime.run('pgrep -f "inside.mjs [m]cp" || echo none', { timeoutMs: 10_000 }),
    );
    claim(left?.output === 'none\n', `a server that was disconnected still runs: ${left?.output}`);
  },
};
