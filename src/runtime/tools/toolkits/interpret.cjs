/** Runs code that comes as JSON lines on descriptor 3, keeps what it defines, and answers on 4. */
const { createInterface } = require('node:readline');
const { createReadStream, writeSync } = require('node:fs');
const { inspect } = require('node:util');
const vm = require('node:vm');
const scope = vm.createContext(
  Object.assign(Object.create(null), {
    console,
    require,
    process,
    Buffer,
    setTimeout,
    clearTimeout,
    fetch,
    URL,
  }),
);
(async () => {
  for await (const line of createInterface({ input: createReadStream(null, { fd: 3 }) })) {
    let value = null,
      error = null;
    try {
      const result = await vm.runInContext(JSON.parse(line).code, scope, { filename: 'cell' });
      value = result === undefined ? null : inspect(result);
    } catch (thrown) {
      error = thrown instanceof Error || thrown?.stack ? thrown.stack : inspect(thrown);
    }
    writeSync(4, `${JSON.stringify({ value, error })}\n`);
  }
})();
