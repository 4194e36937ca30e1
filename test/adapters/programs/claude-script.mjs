import { answer } from '../scripts/claude-program.mjs';

await answer(
  async (tools, call) => `${tools.join(' ')}: ${await call('run', { command: 'echo from the cell' })}`,
);
