import * as z from 'zod';

/** A plugin, as a configuration names it and as the wire carries it to an executor elsewhere. */
export const pluginSpecSchema = z.union([
  z.string().min(1),
  z.strictObject({ name: z.string().min(1), options: z.unknown().optional() }),
]);

export type PluginSpec = z.infer<typeof pluginSpecSchema>;
