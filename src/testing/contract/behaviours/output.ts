import { expect } from '../expect.js';
import { type Behaviours, eventually, fixture, refusal, sh } from '../given.js';

export const outputBehaviours: Behaviours = {
  'output.large': async ({ runtime }) => {
    let received = 0;
    const result = await runtime.run(
      "yes '0123456789abcdef 0123456789abcd' | head -c 100000000; echo; echo the end",
      {
        maxOutputBytes: 4096,
        timeoutMs: 50_000,
        onOutput: ({ text }) => {
          received += text.length;
        },
      },
    );
    expect(result).toMatchObject({ exitCode: 0, endedBy: 'exit', truncated: true });
    expect(Buffer.byteLength(result.output)).toBeLessThan(8192);
    expect(result.output).toMatch(/^0123456789abcdef/);
    expect(result.output).toMatch(/the end\n$/);
    expect(received).toBeGreaterThanOrEqual(100_000_000);
    const outputId = result.outputId ?? '';
    const head = await runtime.execute({ action: 'read_output', outputId, limitBytes: 1000 });
    expect(head).toMatchObject({ from: 0, next: 1000, complete: false });
    expect(head.data).toMatch(/^0123456789abcdef/);
    expect(head.totalBytes).toBe(received);
    const tail = await runtime.execute({ action: 'read_output', outputId, from: head.totalBytes - 200 });
    expect(tail).toMatchObject({ next: head.totalBytes, complete: true });
    expect(tail.data).toContain('the end');
    expect(await sh(runtime, 'echo free')).toBe('free\n');
  },

  'output.invalid-utf8': async ({ runtime }) => {
    const result = await runtime.run("printf 'ok \\xff\\xfe\\xc3 end\\n'");
    expect(result.exitCode).toBe(0);
    expect(result.output).toMatch(/^ok .* end\n$/);
    await runtime.run('head -c 200000 /dev/urandom', { timeoutMs: 30_000 });
    expect(await sh(runtime, 'echo free', { timeoutMs: 30_000 })).toContain('free\n');
  },

  'output.nul': async ({ runtime }) => {
    const result = await runtime.run("printf 'a\\0b\\n'; head -c 100000 /dev/zero; echo c");
    expect(result.exitCode).toBe(0);
    expect(result.output.replaceAll('\0', '')).toBe('ab\nc\n');
  },

  'output.progress-bar': async ({ runtime }) => {
    expect(await sh(runtime, await fixture(runtime, 'progress-bar'))).toBe('Downloading 100%\nfinished\n');
    expect(await sh(runtime, "printf 'abc\\rX\\n'; printf 'ab\\bc\\n'")).toBe('Xbc\nac\n');
  },

  'output.ansi': async ({ runtime }) => {
    let raw = '';
    const output = await sh(runtime, "printf '\\033[1;31mred\\033[0m plain \\033]0;title\\007end\\n'", {
      onOutput: ({ text, stream }) => {
        expect(stream).toBe('terminal');
        raw += text;
      },
    });
    expect(output).toBe('red plain end\n');
    expect(raw).toContain('\x1b[1;31mred\x1b[0m');
  },

  'output.stream': async ({ runtime }) => {
    await sh(runtime, 'mkfifo gate');
    let seen = '';
    const running = runtime.run('echo first; read -r word < gate; echo "second $word"', {
      onOutput: ({ text }) => {
        seen += text;
      },
    });
    await eventually(() => seen.includes('first'), 'the first line arrives while the command waits');
    await sh(runtime, 'echo go > gate', { session: 'other' });
    expect(await running).toMatchObject({ output: 'first\nsecond go\n', exitCode: 0 });
    expect(seen.replaceAll('\r', '')).toBe('first\nsecond go\n');
  },

  'output.sequence': async ({ runtime }) => {
    let expected = 0;
    let chunks = 0;
    await sh(runtime, 'for n in $(seq 2000); do echo "line $n ✓ 👍"; done', {
      onOutput: ({ text, sequence }) => {
        expect(sequence).toBe(expected);
        expected += Buffer.byteLength(text);
        chunks++;
      },
    });
    expect(chunks).toBeGreaterThan(0);
    expect(expected).toBeGreaterThan(30_000);
  },

  'output.split-characters': async ({ runtime }) => {
    const line = 'é漢👩‍👩‍👧'.repeat(50);
    let raw = '';
    await runtime.write('text', `${line}\n`.repeat(1000));
    const result = await runtime.run('cat text', {
      maxOutputBytes: 2_000_000,
      onOutput: ({ text }) => {
        raw += text;
      },
    });
    expectSame(result.output, `${line}\n`.repeat(1000));
    expectSame(raw.replaceAll('\r', ''), `${line}\n`.repeat(1000));
  },

  'output.slow-listener': async ({ runtime }) => {
    let raw = '';
    await sh(runtime, 'seq 1 50000', {
      onOutput: async ({ text }) => {
        await new Promise((resolve) => setImmediate(resolve));
        raw += text;
      },
    });
    const expected = Array.from({ length: 50_000 }, (_, index) => `${index + 1}\n`).join('');
    expectSame(raw.replaceAll('\r', ''), expected);
  },

  'output.both-streams': async ({ runtime }) => {
    expect(await sh(runtime, 'echo one; echo two >&2; echo three')).toBe('one\ntwo\nthree\n');
  },

  'output.without-newline': async ({ runtime }) => {
    expect(await sh(runtime, 'printf abc')).toBe('abc');
    expect(await sh(runtime, "printf '\\n\\nx  \\n\\n'")).toBe('\n\nx  \n\n');
    expect(await sh(runtime, 'printf next')).toBe('next');
  },

  'output.wide-lines': async ({ runtime }) => {
    expect(await sh(runtime, "printf 'x%.0s' $(seq 5000); echo")).toBe(`${'x'.repeat(5000)}\n`);
  },

  'output.forged-end': async ({ runtime }) => {
    let raw = '';
    await sh(runtime, 'echo one', {
      onOutput: ({ text }) => {
        raw += text;
      },
    });
    expect(raw.replaceAll('\r', '')).toBe('one\n');
    const attempts = ["printf '\\033]7777;%s.1;0;0;/\\007' 0000000000000000", "printf '\\033]133;D;0\\007'"];
    for (const attempt of attempts) {
      const result = await runtime.run(`${attempt}; echo after; (exit 6)`, { timeoutMs: 10_000 });
      expect(result, attempt).toMatchObject({ exitCode: 6, endedBy: 'exit' });
      expect(result.output).toContain('after');
    }
    expect(await sh(runtime, 'echo in step')).toBe('in step\n');
  },

  'output.unknown-handle': async ({ runtime }) => {
    await refusal(runtime.execute({ action: 'read_output', outputId: 'never-given' }), 'output-not-found');
  },
};

/** Compares long texts without printing them. */
function expectSame(actual: string, expected: string): void {
  expect({ length: actual.length, same: actual === expected }).toEqual({
    length: expected.length,
    same: true,
  });
}
