/** The program of a keeper. Its only argument says where its settings are. */
import { boot } from '../../../cell/server/boot-protocol.js';
import { keeperSettingsSchema } from './keeper-messages.js';

await boot({ source: process.argv[2] ?? '' }, keeperSettingsSchema, async ({ socketPath }) => {
  const { serveKeeper } = await import('./serve-keeper.js');
  await serveKeeper(socketPath);
  return {};
});
