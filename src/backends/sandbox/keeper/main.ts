/** The program of a keeper. Its one word says where its settings are. */
import { boot } from '../../../cell/server/boot.js';
import { keeperSettingsSchema } from './messages.js';

await boot(process.argv[2] ?? '', keeperSettingsSchema, async ({ socketPath }) => {
  const { serveKeeper } = await import('./serve.js');
  await serveKeeper(socketPath);
  return {};
});
