/** What takes work or memory at the will of a stranger has one place of ours that bounds it. */
import { expect, test } from 'vitest';
import { filesBelow, readText } from './source.js';

/** Files, and folders, that may; by whose text it is. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'they check the bounds first': ['src/base/json.ts', 'src/base/untrusted-json.ts'],
  'our own records and processes, where nobody else can write': [
    'src/base/own-records.ts',
    'src/backends/docker/container-home.ts',
    'src/backends/kubernetes/pod-home.ts',
    'src/backends/local/local-home.ts',
    'src/backends/sandbox/keeper/',
    'src/runtime/checkpoints/kept-changes.ts',
    'src/runtime/checkpoints/kept-index.ts',
    'src/runtime/checkpoints/saved-links.ts',
    'src/runtime/events/',
    'src/runtime/network/kept-remotes.ts',
    'src/runtime/security/audit/',
    'src/runtime/security/policy/',
    'src/service/postgres-service-store.ts',
    'src/service/sqlite-service-store.ts',
  ],
  'values of this process, as text': [
    'src/cell/plugins/tools/schema/',
    'src/runtime/network/presets.ts',
    'src/runtime/tools/entrypoint.ts',
    'src/runtime/tools/function-tool.ts',
    'src/runtime/tools/python/python-tools.ts',
  ],
  'what the user wrote or installed': [
    'src/base/resolve-import.ts',
    'src/cli/commands/',
    'src/compat/messages.ts',
    'src/config/',
    'src/backends/kubernetes/exec-plugin.ts',
  ],
  'those who command the reader: an engine, a cluster, a service, the starter of a cell': [
    'src/backends/engines/docker-client.ts',
    'src/backends/images/docker/engine-messages.ts',
    'src/backends/kubernetes/cluster-client.ts',
    'src/backends/kubernetes/pod-watch.ts',
    'src/cell/plugins/browser/devtools-proxy.ts',
    'src/cell/server/boot-protocol.ts',
    'src/client/service-client.ts',
  ],
  'programs of tests': ['src/testing/'],
  'a program in a cell that hears from another one there': ['src/runtime/tools/toolkits/interpreter.ts'],
};
const places = Object.values(allowed).flat();

const parsers = filesBelow('src', '.ts').filter((file) =>
  /\bJSON\.parse\b|\.json\(\)/.test(readText(file).replace(/^\s*(\/?\*|\/\/).*$/gm, '')),
);

test('what a cell or a stranger sends is parsed within bounds', () => {
  const unbounded = parsers.filter((file) => !places.some((place) => file.startsWith(place)));
  expect(unbounded, 'use parseUntrustedJson, readUntrustedJson or parseJson of src/base').toEqual([]);
});

test('whoever opens WebSockets answers pings by src/base/pings.ts', () => {
  const openers = filesBelow('src', '.ts').filter((file) =>
    /new WebSocket(?:Server)?\(|register\(websocket/.test(readText(file)),
  );
  expect(openers.filter((file) => !readText(file).includes('autoPong: false'))).toEqual([]);
  expect(openers.length).toBeGreaterThan(3);
});

test('no place is named that parses nothing', () => {
  expect(places.filter((place) => !parsers.some((file) => file.startsWith(place)))).toEqual([]);
});
