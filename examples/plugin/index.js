import { text } from 'node:stream/consumers';
import { defineAction, definePlugin } from 'workcell/plugins';
import { z } from 'zod';

const countWords = defineAction('count_words', {
  summary: 'Counts the words of a file.',
  readOnly: true,
  input: { path: z.string() },
  kinds: { path: 'path-read' },
  output: { words: z.int(), total: z.int() },
});

export default definePlugin({
  name: 'words',
  version: '1.0.0',
  summary: 'Counts words.',
  actions: { count_words: countWords },
  verbs: {
    countWords: (runtime) => async (path) => {
      const { words } = await runtime.execute({ action: 'count_words', path });
      return words;
    },
  },
  requirements: [{ name: 'wc', check: ['wc', '--version'], install: 'apt-get install coreutils' }],
  environment: { WORDS: 'counted' },
  async initialize(cell, { start = 0 } = {}) {
    let total = start;
    return {
      handlers: {
        async count_words({ path }) {
          const { stdout } = await cell.spawn(['wc', '-w', '--', path]);
          const words = Number.parseInt(await text(stdout), 10);
          total += words;
          return { words, total };
        },
      },
    };
  },
});
