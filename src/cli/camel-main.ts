#!/usr/bin/env node
/** `workcell camel-server` as a separate program, which CAMEL can start in place of Python. */
process.argv.splice(2, 0, 'camel-server');
await import('./main.js');
