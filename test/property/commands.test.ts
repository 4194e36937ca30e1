/** Generated commands in one session, compared with a plain `bash -c`; generated paths, compared with node:fs. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRuntime, type Runtime } from '../../src/index.js';

let workspace: string;
let runtime: Runtime;

beforeAll(async () => {
  workspace = mkdtempSync(join(tmpdir(), 'property-'));
  runtime = await createRuntime({ config: false, backend: 'cli', workspace, env: { LC_ALL: 'C.UTF-8' } });
});

afterAll(async () => {
  await runtime.close();
  rmSync(workspace, { recursive: true, force: true });
});

const delicate = [...` \t\n'"\\$\`!*?[]{}()<>|&;#~=%^-+é漢🚀`];

/** Text that a terminal shows as it is: nothing that moves the cursor or starts a sequence. */
const shown = fc
  .string({
    unit: fc.oneof(fc.constantFrom(...delicate), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })),
    maxLength: 40,
  })
  .map((text) => text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, ''));

/** Every character that a command may carry. */
const carried = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\0', ''));

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const name = fc.constantFrom('a', 'b', 'long_name');

const print = shown.map((text) => `printf '%s' ${quoted(text)}`);
const bytes = carried.map((text) => `printf '%s' ${quoted(text)} | od -An -tx1`);
const exit = fc.integer({ min: 0, max: 255 }).map((code) => `(exit ${code})`);
const leave = fc.integer({ min: 0, max: 255 }).map((code) => `echo leaving; exit ${code}`);
const variable = fc
  .tuple(name, shown)
  .map(([key, text]) => `${key}=${quoted(text)}; printf '<%s>' "$${key}"`);
const heredoc = shown.filter((text) => !text.includes('END')).map((text) => `cat <<'END'\n${text}\nEND`);
const pipeline = fc
  .tuple(
    shown,
    fc.constantFrom('cat', 'tr a-z A-Z', 'wc -c', 'sort', 'head -n 1', 'grep -c .', 'sed s/a/b/g'),
  )
  .map(([text, filter]) => `printf '%s\\n' ${quoted(text)} | ${filter}`);
const redirect = shown.map((text) => `printf '%s' ${quoted(text)} > out.txt; cat out.txt; wc -c < out.txt`);
const broken = fc.constantFrom(
  'echo "unclosed',
  'if true',
  'fi',
  '(',
  'echo $((',
  'no-such-program',
  'false',
  'cd /nowhere',
);
const loop = fc.integer({ min: 0, max: 5 }).map((count) => `for n in $(seq ${count})\ndo\n  echo "$n"\ndone`);
const comment = shown.map((text) => `echo before # ${text.replaceAll('\n', ' ')}`);

const simple = fc.oneof(print, bytes, exit, variable, heredoc, pipeline, redirect, loop, comment);
const command = fc.oneof(
  { weight: 6, arbitrary: simple },
  { weight: 1, arbitrary: fc.oneof(broken, leave) },
  { weight: 2, arbitrary: fc.tuple(simple, simple).map((parts) => parts.join('\n')) },
  { weight: 1, arbitrary: fc.tuple(print, exit).map(([first, second]) => `${first} && ${second}`) },
  { weight: 1, arbitrary: simple.map((inner) => `(\n${inner}\n)`) },
);

const runs = 2000;

test(`${runs} generated commands print and end as in a plain bash -c`, async () => {
  await fc.assert(
    fc.asyncProperty(command, async (source) => {
      const plain = spawnSync('bash', ['-c', source], {
        cwd: workspace,
        env: { ...process.env, LC_ALL: 'C.UTF-8' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const result = await runtime.run(source, { timeoutMs: 20_000 });
      expect({ exitCode: result.exitCode, endedBy: result.endedBy }).toEqual({
        exitCode: plain.status,
        endedBy: 'exit',
      });
      // Error messages name the shell differently; what a command prints itself is the same.
      if (plain.stderr.length === 0) expect(result.output).toBe(plain.stdout.toString());
    }),
    { numRuns: runs, interruptAfterTimeLimit: 240_000, markInterruptAsFailure: true },
  );
});

const part = carried.filter(
  (text) =>
    text !== '' && text !== '.' && text !== '..' && !text.includes('/') && Buffer.byteLength(text) <= 200,
);

test(`${runs} generated paths lead to the same files as in node:fs`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 3 }), carried, async (parts, content) => {
      const path = ['tree', ...parts].join('/');
      await runtime.write(path, content);
      expect(readFileSync(join(workspace, 'tree', ...parts), 'utf8')).toBe(content);
      expect((await runtime.read(path, { encoding: 'base64' })).content).toBe(
        Buffer.from(content).toString('base64'),
      );
      const parent = ['tree', ...parts.slice(0, -1)];
      const listed = (await runtime.files.list(parent.join('/'))).map((entry) => entry.name);
      expect(listed.sort()).toEqual(readdirSync(join(workspace, ...parent)).sort());
      await runtime.files.remove('tree', { recursive: true });
      expect(readdirSync(workspace)).not.toContain('tree');
    }),
    { numRuns: runs, interruptAfterTimeLimit: 240_000, markInterruptAsFailure: true },
  );
});
