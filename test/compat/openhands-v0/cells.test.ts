/** Code cells as clients of OpenHands V0 know them. */
import { afterAll, describe, expect, test } from 'vitest';
import { startServer } from './server.js';

const server = startServer();
afterAll(() => server[Symbol.asyncDispose]());

const cell = (code: string, args = {}, timeout?: number) =>
  server.act('run_ipython', { code, ...args }, timeout);

describe('run_ipython', () => {
  test('answers with what the cell showed, the directory of the shell and the interpreter', async () => {
    const answer = await cell('x = 6 * 7\nprint(x)', { thought: 'to see', kernel_init_code: '' });
    expect(answer).toMatchObject({
      observation: 'run_ipython',
      extras: { code: 'x = 6 * 7\nprint(x)', image_urls: null },
      success: true,
    });
    expect(answer.content).toMatch(
      /^42\n\[Jupyter current working directory: (.*)\]\n\[Jupyter Python interpreter: \/.*\]$/,
    );
    expect(answer.content).toContain(server.directory);
    expect((await cell('x', { include_extra: false })).content).toBe('42');
    expect((await cell('pass', { include_extra: false })).content).toMatch(/^\[.*no output.*\]$/);
  });

  test('follows the shell, and not the other way round', async () => {
    await server.run('mkdir -p deep/er && cd deep/er');
    const here = 'import os; print(os.getcwd())';
    expect((await cell(here)).content).toContain(server.path('deep/er'));
    await cell('os.chdir("/")');
    expect((await cell(here, { include_extra: false })).content).toBe('/\n');
    expect((await server.run('pwd')).content).toContain(server.path('deep/er'));
    await server.run('cd ..');
    expect((await cell(here, { include_extra: false })).content).toBe(`${server.path('deep')}\n`);
  });

  test('gives images as data addresses', async () => {
    const source =
      'from IPython.display import Image, display; display(Image(b"\\x89PNG\\r\\n\\x1a\\n0000IHDR", format="png", width=1, height=1))';
    const answer = await cell(source);
    expect(answer.extras.image_urls).toEqual([expect.stringMatching(/^data:image\/png;base64,iVBORw0K/)]);
  });

  test('tells errors as tracebacks without colours, and still succeeds', async () => {
    const answer = await cell('1 / 0', { include_extra: false });
    expect(answer).toMatchObject({ success: true, content: expect.stringContaining('ZeroDivisionError') });
    expect(answer.content).not.toContain('\u001b');
  });

  test('is interrupted when its time is over, and keeps its state', async () => {
    await cell('kept = 1');
    const answer = await cell('print("begun")\nimport time\ntime.sleep(1000)', {}, 1.5);
    expect(answer.content).toMatch(/^begun\n[\s\S]*\[.*1\.5 seconds.*\]$/);
    expect((await cell('kept', { include_extra: false })).content).toBe('1');
  });

  test('has the agent skills at hand, without an import', async () => {
    await server.run('printf "a\\nb\\n" > letters.txt');
    const { content } = await cell(`open_file("letters.txt")`, { include_extra: false });
    expect(content).toMatch(
      /^\[File: \/.*\/letters\.txt \(2 lines total\)\]\n\(this is the beginning of the file\)\n1\|a\n2\|b\n\(this is the end of the file\)\n$/,
    );
    expect((await cell('scroll_up()\nprint(search_file)', { include_extra: false })).content).toContain(
      'function',
    );
  });

  test('refuses fields that it does not know', async () => {
    await expect(cell('1', { language: 'python' })).rejects.toThrow('400');
  });
});
