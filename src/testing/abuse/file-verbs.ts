/** Every file verb, for attacks that try them all. */
import type { Runtime } from '../../index.js';
import { demand } from './case.js';

/** Spellings that might reach a file of this machine. */
export function spellings(path: string): string[] {
  const up = '../'.repeat(20);
  const encoded = path.replaceAll('/', '%2f');
  return [
    path,
    `${up}${path.slice(1)}`,
    `/workspace/${up}${path.slice(1)}`,
    `./a/b/../../${up}${path.slice(1)}`,
    `//${path}`,
    encoded,
    `%2e%2e%2f${encoded}`,
    path.replaceAll('/', '%252f'),
    path.replaceAll('/', '\\'),
    `..\\..\\..${path.replaceAll('/', '\\')}`,
    path.replaceAll('/', '\u2215'),
    path.replaceAll('/', '\uff0f'),
    `\uff0e\uff0e/\uff0e\uff0e${path}`,
    `/proc/self/root${path}`,
    `/proc/1/root${path}`,
    `/proc/1/cwd/${up}${path.slice(1)}`,
    `/proc/thread-self/root${path}`,
    `/dev/fd/0/..${path}`,
    `file://${path}`,
    `~root/..${path}`,
  ];
}

/** Every verb that takes a path, in a form that only looks. */
export const lookers: Readonly<Record<string, (runtime: Runtime, path: string) => Promise<unknown>>> = {
  read: (runtime, path) => runtime.read(path),
  stat: (runtime, path) => runtime.files.stat(path),
  list: (runtime, path) => runtime.files.list(path),
  grep: (runtime, path) => runtime.files.grep('.', { path, hidden: true }),
  glob: (runtime, path) => runtime.files.glob('**', { path, hidden: true }),
  watch: async (runtime, path) => {
    const stop = new AbortController();
    await runtime.files.watch(path, { signal: stop.signal });
    stop.abort();
    return `watched ${path}`;
  },
  copy: async (runtime, path) => {
    await runtime.files.copy(path, 'copied', { overwrite: true });
    return runtime.read('copied');
  },
  download: async (runtime, path) => {
    const { content } = await runtime.files.download(path);
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  },
};

/** Every verb that takes a path, in a form that changes. */
export const changers: Readonly<Record<string, (runtime: Runtime, path: string) => Promise<unknown>>> = {
  write: (runtime, path) => runtime.write(path, 'changed'),
  append: (runtime, path) => runtime.write(path, 'changed', { append: true }),
  edit: (runtime, path) => runtime.edit(path, { insertLine: 0, newText: 'changed' }),
  makeDir: (runtime, path) => runtime.files.makeDir(`${path}.d`),
  upload: (runtime, path) => runtime.files.upload(Buffer.from('changed'), path),
  move: (runtime, path) => runtime.files.move(path, 'moved', { overwrite: true }),
  remove: (runtime, path) => runtime.files.remove(path, { recursive: true }),
};

/** Tries all verbs on all paths. The caller checks after every attack that nothing outside changed. */
export async function tryAll(runtime: Runtime, paths: readonly string[], secret: string): Promise<number> {
  let tried = 0;
  for (const path of paths) {
    for (const [verb, look] of Object.entries(lookers)) {
      const seen = await look(runtime, path).then(
        (value) => JSON.stringify(value) ?? '',
        () => '',
      );
      demand(!seen.includes(secret), `${verb} of ${path} shows a file outside of the cell`);
      tried++;
    }
    for (const change of Object.values(changers)) {
      await change(runtime, path).catch(() => undefined);
      tried++;
    }
  }
  return tried;
}
