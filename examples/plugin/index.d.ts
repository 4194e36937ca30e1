import type { ActionDefinition, Plugin } from 'workcell/plugins';
import type { z } from 'zod';

type CountWords = ActionDefinition<
  'count_words',
  { path: z.ZodString },
  { words: z.ZodInt; total: z.ZodInt }
>;

declare module 'workcell/plugins' {
  interface PluginActions {
    count_words: CountWords;
  }
  interface RuntimeVerbs {
    /** How many words a file has. */
    countWords(path: string): Promise<number>;
  }
}

declare const words: Plugin<{ count_words: CountWords }>;
export default words;
