/** Workcell in process: a `sandbox`, or the backend and its options that the arguments name as JSON. */
import { createRuntime } from '../../../src/index.js';
import { serve } from './adapter.js';

const options = JSON.parse(process.argv[2] ?? '{"backend":"sandbox"}') as { backend: 'sandbox' };

await serve({
  async open() {
    const runtime = await createRuntime({ config: false, ...options });
    return {
      run: async (command) => (await runtime.run(command)).output,
      write: async (path, content) => void (await runtime.write(path, content)),
      read: async (path) => (await runtime.read(path)).content,
      code: async (source) => (await runtime.runCode(source)).text,
      close: () => runtime.close(),
    };
  },
});
