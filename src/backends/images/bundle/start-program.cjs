/** Runs `program.js`, from its compiled form where that is there and fits. The bundler writes nothing but ASCII. */
'use strict';
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { Script } = require('node:vm');
const file = `${__dirname}/program.js`;
let cachedData;
try {
  cachedData = readFileSync(`${__dirname}/program.cache`);
} catch {}
const script = new Script(readFileSync(file, 'latin1'), { filename: file, cachedData });
// Node refuses `import()` to what runs from a code cache; src/base/import-module.ts finds this one.
globalThis[Symbol.for('workcell.import')] = (address) => import(address);
script.runInThisContext().call(exports, exports, createRequire(file), module, file, __dirname);
