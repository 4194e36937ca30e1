import type { CodeOutput, Observation, Runtime } from '../../../index.js';
import { expect } from '../expect.js';
import { type Behaviours, countProcesses, eventually, refusal, sh, uniqueWord } from '../given.js';

/** Runs a code cell that must succeed. Returns what a person would see. */
async function cell(runtime: Runtime, code: string, options: Parameters<Runtime['runCode']>[1] = {}) {
  const result = await runtime.runCode(code, options);
  expect(result, result.text).toMatchObject({ status: 'ok', endedBy: 'exit' });
  return result.text;
}

/** The smallest picture there is. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const kinds = (outputs: readonly CodeOutput[]) => outputs.map(({ type }) => type);

export const codeBehaviours: Behaviours = {
  'code.state': async ({ runtime }) => {
    expect(await cell(runtime, 'import math\nx = math.floor(math.pi)')).toBe('');
    expect(await cell(runtime, 'x * 14')).toBe('42\n');
    const { executionCount, language, context } = await runtime.runCode('x');
    expect({ executionCount, language, context }).toEqual({
      executionCount: 3,
      language: 'python',
      context: 'default',
    });
  },

  'code.contexts': async ({ runtime }) => {
    const names = ['a', 'b', 'c'];
    await Promise.all(names.map((name) => cell(runtime, `mine = "${name}"`, { context: name })));
    const answers = await Promise.all(names.map((name) => cell(runtime, 'print(mine)', { context: name })));
    expect(answers).toEqual(['a\n', 'b\n', 'c\n']);
    expect((await runtime.runCode('mine')).outputs).toMatchObject([{ type: 'error', name: 'NameError' }]);
    const { contexts, kernels } = await runtime.execute({ action: 'list_contexts' });
    expect(contexts.map(({ context }) => context).sort()).toEqual(['a', 'b', 'c', 'default']);
    expect(contexts.every(({ state, pid }) => state === 'idle' && pid !== null)).toBe(true);
    expect(kernels.some(({ language }) => language === 'python')).toBe(true);
  },

  'code.outputs': async ({ runtime }) => {
    const source = `
import sys
from IPython.display import HTML, JSON, Latex, Markdown, SVG, clear_output, display
print("gone"); clear_output()
print("one")
sys.stdout.flush()
print("two", file=sys.stderr)
sys.stderr.flush()
handle = display(HTML("<b>old</b>"), display_id=True)
handle.update(HTML("<b>three</b>"))
display(JSON({"four": 4})); display(Latex("$5$")); display(Markdown("*six*"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg'/>"))
7`;
    const { outputs, text, status } = await runtime.runCode(source);
    expect(status).toBe('ok');
    expect(kinds(outputs)).toEqual(['stream', 'stream', ...Array(5).fill('display'), 'result']);
    expect(outputs[0]).toEqual({ type: 'stream', name: 'stdout', text: 'one\n' });
    expect(outputs[1]).toEqual({ type: 'stream', name: 'stderr', text: 'two\n' });
    const media = outputs.flatMap((output) => ('data' in output ? [output.data] : []));
    expect(media).toMatchObject([
      { 'text/html': '<b>three</b>' },
      { 'application/json': { four: 4 } },
      { 'text/latex': '$5$' },
      { 'text/markdown': '*six*' },
      { 'image/svg+xml': expect.stringContaining('<svg') },
      { 'text/plain': '7' },
    ]);
    expect(text).toMatch(/^one\ntwo\n[\s\S]*\n7\n$/);
    const failed = await runtime.runCode('print("before")\ndef f(): raise ValueError("bad \\u2713")\nf()');
    expect(failed).toMatchObject({ status: 'error', endedBy: 'exit' });
    expect(failed.outputs[1]).toMatchObject({ type: 'error', name: 'ValueError', message: 'bad ✓' });
    expect(failed.text).toMatch(/^before\n[\s\S]*ValueError: bad ✓\n$/);
  },

  'code.media': async ({ runtime }) => {
    const show = `from IPython.display import Image, display; import base64; display(Image(base64.b64decode("${pixel}")))`;
    const { outputs } = await runtime.runCode(show, { saveMedia: 'plots' });
    const [output] = outputs;
    if (output === undefined || !('data' in output)) throw new Error('Nothing was displayed.');
    expect(String(output.data['image/png']).trim()).toBe(pixel);
    const file = await runtime.read(output.files?.['image/png'] ?? '', { encoding: 'base64' });
    expect(file.content).toBe(pixel);
    const without = await runtime.runCode(show, { maxMediaBytes: 16 });
    expect(without).toMatchObject({
      truncated: true,
      outputs: [{ omitted: { 'image/png': expect.any(Number) } }],
    });
  },

  'code.stream': async ({ runtime }) => {
    await sh(runtime, 'mkfifo gate');
    await cell(runtime, 'pass');
    const chunks: { text: string; stream: string; sequence: number }[] = [];
    const running = runtime.runCode('print("über"); open("gate").read(); print("after")', {
      onOutput: (chunk) => void chunks.push(chunk),
    });
    await eventually(() => chunks.some(({ text }) => text.includes('über')), 'the first line');
    await sh(runtime, 'echo > gate');
    expect((await running).text).toBe('über\nafter\n');
    let position = 0;
    for (const { text, sequence, stream } of chunks) {
      expect({ sequence, stream }).toEqual({ sequence: position, stream: 'stdout' });
      position += Buffer.byteLength(text);
    }
    expect(chunks.map(({ text }) => text).join('')).toBe('über\nafter\n');
  },

  'code.displays': async ({ runtime }) => {
    await sh(runtime, 'mkfifo gate');
    await cell(runtime, 'from IPython.display import HTML, display');
    const shown: unknown[] = [];
    const running = runtime.runCode(
      `
handle = display(HTML("<b>one</b>"), display_id="counter")
open("gate").read()
handle.update(HTML("<b>two</b>"))
display(HTML("x" * 5_000_000))
6 * 7`,
      { onDisplay: (display) => void shown.push(display) },
    );
    await eventually(() => shown.length > 0, 'the first display');
    await sh(runtime, 'echo > gate');
    const { outputs } = await running;
    expect(shown).toMatchObject([
      { kind: 'display', data: { 'text/html': '<b>one</b>' }, displayId: 'counter', update: false },
      { kind: 'display', data: { 'text/html': '<b>two</b>' }, displayId: 'counter', update: true },
      { kind: 'display', omitted: { 'text/html': 5_000_000 }, update: false },
      { kind: 'result', data: { 'text/plain': '42' }, update: false },
    ]);
    expect(outputs).toMatchObject([
      { type: 'display', data: { 'text/html': '<b>two</b>' } },
      { type: 'display', data: { 'text/html': expect.stringMatching(/^x{5000000}$/) } },
      { type: 'result', data: { 'text/plain': '42' } },
    ]);
  },

  'code.follows-shell': async ({ runtime }) => {
    const look = 'import os; print(os.path.basename(os.getcwd()), os.environ.get("COLOUR"))';
    await cell(runtime, 'pass');
    await runtime.env.set({ COLOUR: 'it\'s "red"\n✓' });
    await sh(runtime, "mkdir 'a b' && cd 'a b'");
    expect(await cell(runtime, look)).toBe('a b it\'s "red"\n✓\n');
    // What the kernel does for itself lasts until the shell moves.
    expect(await cell(runtime, 'os.chdir("..")\nos.environ["COLOUR"] = "own"')).toBe('');
    expect(await cell(runtime, 'os.environ["COLOUR"]')).toBe("'own'\n");
    await runtime.env.unset('COLOUR');
    await sh(runtime, 'mkdir c && cd c');
    expect(await cell(runtime, look)).toBe('c None\n');
  },

  'code.input': async ({ runtime }) => {
    const source = 'name = input("who? "); age = input("age? "); print(name, age)';
    expect(await cell(runtime, source, { input: ['Ada', '36'] })).toContain('Ada 36\n');
    const refused = await runtime.runCode(source);
    expect(refused.outputs).toMatchObject([{ type: 'error', message: expect.stringContaining('input') }]);
    const short = await runtime.runCode(source, { input: ['Ada'] });
    expect(short).toMatchObject({
      status: 'error',
      notice: expect.stringContaining('more often than the 1 '),
    });
    expect(await cell(runtime, 'name')).toBe("'Ada'\n");
  },

  'code.magics': async ({ runtime }) => {
    expect(await cell(runtime, '!echo from $((40 + 2))')).toContain('from 42');
    expect(await cell(runtime, '%%bash\necho "in bash"')).toBe('in bash\n');
    expect(await cell(runtime, '%pip --version')).toContain('pip');
    expect(await cell(runtime, '?len')).toContain('Return the number of items');
  },

  'code.timeout': async ({ runtime }) => {
    const slow = await runtime.runCode('kept = 1\nprint("begun")\nwhile True: pass', { timeoutMs: 1500 });
    expect(slow).toMatchObject({ endedBy: 'timeout', status: 'error' });
    expect(slow.text).toMatch(/^begun\n[\s\S]*KeyboardInterrupt/);
    expect(await cell(runtime, 'kept')).toBe('1\n');
  },

  'code.stubborn': async ({ runtime }) => {
    const word = uniqueWord();
    const source = `
import signal, subprocess, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
child = subprocess.Popen(["bash", "-c", "exec -a ${word} sleep 1000"], start_new_session=True)
print("begun", flush=True)
while True: time.sleep(1)`;
    const result = await runtime.runCode(source, { timeoutMs: 1500 });
    expect(result).toMatchObject({
      endedBy: 'timeout',
      text: 'begun\n',
      notice: expect.stringContaining('state is lost'),
    });
    await eventually(
      async () => (await countProcesses(runtime, word)) === 0,
      'all that it started to be gone',
    );
    expect(await cell(runtime, '"new"')).toBe("'new'\n");
  },

  'code.abort': async ({ runtime }) => {
    await cell(runtime, 'kept = 2');
    const controller = new AbortController();
    const running = runtime.runCode('print("begun")\nimport time\ntime.sleep(1000)', {
      signal: controller.signal,
      onOutput: () => controller.abort(),
    });
    // An executor elsewhere answers a caller that went away with an error instead.
    const outcome = await running.catch((error: { code: string }) => ({ endedBy: error.code }));
    expect(outcome.endedBy).toBe('cancelled');
    expect(await cell(runtime, 'kept')).toBe('2\n');
  },

  'code.interrupt': async ({ runtime }) => {
    await cell(runtime, 'pass');
    let begun = false;
    const running = runtime.runCode('print("begun")\nimport time\ntime.sleep(1000)', {
      onOutput: () => {
        begun = true;
      },
    });
    await eventually(() => begun, 'the first line');
    await runtime.execute({ action: 'control_context', operation: 'interrupt' });
    expect(await running).toMatchObject({ status: 'error', endedBy: 'exit' });
    expect((await running).text).toContain('KeyboardInterrupt');
  },

  'code.restart': async ({ runtime }) => {
    await cell(runtime, 'kept = 3');
    await runtime.execute({ action: 'control_context', operation: 'restart' });
    expect((await runtime.runCode('kept')).outputs).toMatchObject([{ name: 'NameError' }]);
    await runtime.execute({ action: 'control_context', operation: 'close' });
    expect((await runtime.execute({ action: 'list_contexts' })).contexts).toEqual([]);
    await refusal(runtime.execute({ action: 'control_context', operation: 'close' }), 'session-not-found');
    expect(await cell(runtime, '1')).toBe('1\n');
  },

  'code.death': async ({ runtime }) => {
    const killed = await runtime.runCode(
      'print("last words", flush=True)\nimport os\nos.kill(os.getpid(), 9)',
    );
    expect(killed).toMatchObject({ endedBy: 'killed', notice: expect.stringContaining('SIGKILL') });
    const left = await runtime.runCode('import os\nos._exit(3)');
    expect(left).toMatchObject({ endedBy: 'lost', notice: expect.stringContaining('exit code 3') });
    expect(await cell(runtime, '1 + 1')).toBe('2\n');
  },

  'code.bounded': async ({ runtime }) => {
    const result: Observation<'run_code'> = await runtime.runCode(
      'print("first")\nfor n in range(20000): print("line", n)\nprint("last")',
      { maxOutputBytes: 4096 },
    );
    expect(result).toMatchObject({ truncated: true, status: 'ok' });
    expect(result.text).toMatch(
      /^first\nline 0\n[\s\S]*\[\.\.\. \d+ bytes left out \.\.\.\][\s\S]*line 19999\nlast\n$/,
    );
    expect(Buffer.byteLength(result.text)).toBeLessThan(5000);
    const { outputId = '' } = result;
    const whole = await runtime.execute({ action: 'read_output', outputId, stream: 'stdout' });
    expect(whole.data.split('\n').length).toBe(20_003);
    expect(whole.complete).toBe(true);
  },

  'code.ipython': async ({ runtime }) => {
    const answer = await runtime.execute({ action: 'run_ipython', code: 'print("hi")' });
    expect(answer).toMatchObject({ code: 'print("hi")', image_urls: null, success: true });
    expect(answer.content).toMatch(
      /^hi\n\[Jupyter current working directory: \/.*\]\n\[Jupyter Python interpreter: \/.*python[\d.]*\]$/,
    );
    const silent = await runtime.execute({ action: 'run_ipython', code: 'pass', include_extra: false });
    expect(silent.content).toMatch(/^\[.*no output\]$/);
    const slow = { action: 'run_ipython', code: 'import time; time.sleep(99)', timeoutMs: 1000 } as const;
    expect(await runtime.execute(slow)).toMatchObject({
      success: false,
      content: expect.stringContaining('1 seconds'),
    });
  },

  'code.unknown-language': async ({ runtime }) => {
    const error = await refusal(runtime.runCode('1', { language: 'cobol-60' }), 'plugin-unavailable');
    expect(error.message).toContain('python3');
  },
};
