import * as z from 'zod';

/** A plugin as it is named in a configuration, and as it crosses to an executor elsewhere. */
export const pluginSpecSchema = z.union([
  z.string().min(1),
  z.strictObject({ name: z.string().min(1), options: z.unknown().optional() }),
]);

export type PluginSpec = z.infer<typeof pluginSpecSchema>;
