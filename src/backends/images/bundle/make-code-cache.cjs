/**
 * Serves a cell until it has done for a client what every client asks first, and keeps what was compiled by then: a
 * function that has not run is compiled by each cell that runs it. What is compiled fits only a Node with the same
 * flags, and the program may set some when it has been loaded.
 */
'use strict';
require('node:v8').setFlagsFromString = () => {};
const fs = require('node:fs');
const { request } = require('node:http');
const vm = require('node:vm');

const { Script } = vm;
let program;
vm.Script = class extends Script {
  constructor(...words) {
    super(...words);
    program ??= this;
  }
};
require('./executor.cjs');

const { socketPath } = JSON.parse(fs.readFileSync(process.argv[3], 'utf8'));
const ask = (method, path, body) =>
  new Promise((resolve) => {
    const headers = { accept: 'application/vnd.workcell.frames', 'content-type': 'application/json' };
    request({ socketPath, method, path, headers }, (answer) => answer.resume().once('close', resolve))
      .once('error', resolve)
      .end(body);
  });
const { writeSync } = fs;
// The first thing that it says is that it listens.
fs.writeSync = () => {
  fs.writeSync = writeSync;
  void ask('GET', '/v1/info')
    .then(() => ask('POST', '/v1/actions', '{"action":"run","command":"true"}'))
    .then(() => {
      fs.writeFileSync(`${__dirname}/program.cache`, program.createCachedData(), { flush: true });
      process.kill(process.pid);
    });
};
