/** just-bash: a bash written in JavaScript, over files in memory. */
import { serve } from './adapter.js';
import { fromCache } from './from-cache.js';

interface JustBash {
  readonly Bash: new () => {
    exec(command: string): Promise<{ stdout: string }>;
    readFile(path: string): Promise<string>;
    writeFile(path: string, content: string): Promise<void>;
  };
}

const { Bash } = await fromCache<JustBash>('just-bash');

await serve({
  async open() {
    const bash = new Bash();
    return {
      run: async (command) => (await bash.exec(command)).stdout,
      write: (path, content) => bash.writeFile(`/tmp/${path}`, content),
      read: (path) => bash.readFile(`/tmp/${path}`),
      close: async () => {},
    };
  },
});
