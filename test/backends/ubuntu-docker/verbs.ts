/** What the ubuntu-docker backend has of its own, with whichever kernel. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type CreateRuntimeOptions, createRuntime } from '../../../src/index.js';
import { refusal } from '../../../src/testing/contract/given.js';

export function ubuntuVerbs(cell: CreateRuntimeOptions & { backend: 'ubuntu-docker' }): void {
  describe('Python', () => {
    test('is found, and what programs look for is preset', async () => {
      await using runtime = await createRuntime(cell);
      expect(runtime.backend).toBe('ubuntu-docker');
      const { output } = await runtime.run('echo "$PYTHON_EXECUTABLE"; test -d "$PYTHONPATH" && echo there');
      expect(output).toBe('/usr/bin/python3\nthere\n');
    });

    test('that is not new enough, or not where it was said to be, is refused', async () => {
      const error = await refusal(createRuntime({ ...cell, pythonVersion: '>=4' }), 'image-unsuitable');
      expect(error.message).toMatch(/Python 3\.\d+\.\d+, and you demand >=4/);
      await refusal(createRuntime({ ...cell, pythonPath: '/nowhere/python' }), 'image-unsuitable');
      await refusal(createRuntime({ ...cell, pythonVersion: 'newest' }), 'invalid-config');
    });
  });

  describe('execPythonFile', () => {
    const directory = mkdtempSync(join(tmpdir(), 'scripts-'));
    afterAll(() => rmSync(directory, { recursive: true }));
    const script = (name: string, source: string) => {
      const file = join(directory, name);
      writeFileSync(file, source);
      return file;
    };

    test('runs a whole script with its arguments and variables, streams its output and gives its exit code', async () => {
      await using runtime = await createRuntime(cell);
      const file = script(
        'a script.py',
        'import os, sys\nprint(sys.argv[1:], os.environ["GREETING"])\nprint("to the side", file=sys.stderr)\nsys.exit(3)\n',
      );
      const streamed = { stdout: '', stderr: '', terminal: '' };
      const result = await runtime.execPythonFile(file, {
        args: ['a b', "it's"],
        env: { GREETING: 'hello' },
        onOutput: ({ stream, text }) => {
          streamed[stream] += text;
        },
      });
      expect(result).toMatchObject({ exitCode: 3, endedBy: 'exit', stdout: `['a b', "it's"] hello\n` });
      expect(result.stderr).toBe('to the side\n');
      expect(streamed).toEqual({ stdout: result.stdout, stderr: result.stderr, terminal: '' });
      expect((await runtime.run('ls -d /tmp/workcell-script-* 2>/dev/null | wc -l')).output).toBe('0\n');
    });

    test('a script that fails is a result; one that does not exist is refused; one that hangs can be ended', async () => {
      await using runtime = await createRuntime(cell);
      const failed = await runtime.execPythonFile(script('fails.py', 'raise ValueError("no")\n'));
      expect(failed).toMatchObject({ exitCode: 1 });
      expect(failed.stderr).toContain('ValueError: no');
      await refusal(runtime.execPythonFile('/nowhere/script.py'), 'not-found');
      const hanging = script('hangs.py', 'import time\nprint("begun")\ntime.sleep(1000)\n');
      const stop = new AbortController();
      const ended = await runtime.execPythonFile(hanging, {
        signal: stop.signal,
        onOutput: () => stop.abort(),
      });
      expect(ended).toMatchObject({ signal: 'SIGKILL', stdout: 'begun\n' });
    });
  });
}
