import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSkillsCell, type SkillsCell } from './cell.js';

interface Result {
  readonly output: string;
  readonly error: string | null;
  readonly path: string;
  readonly prev_exist: boolean;
  readonly old_content: string | null;
  readonly new_content: string | null;
  readonly formatted_output_and_error: string;
}

describe.each(['cli', 'sandbox'] as const)('file_editor on %s', (backend) => {
  let cell: SkillsCell;
  let path: string;
  let place: string;

  async function edit(args: Record<string, unknown>): Promise<Result> {
    const given = JSON.stringify(JSON.stringify(args));
    const text = await cell.python(`import json\nprint(file_editor(**json.loads(${given})))`);
    const [, json] = /^<(?:oh_aci_output_[0-9a-f]{32})>\n([\s\S]*)\n<\/oh_aci_output_[0-9a-f]{32}>$/.exec(
      text,
    ) ?? [undefined, text];
    return JSON.parse(json ?? '') as Result;
  }
  const failure = async (args: Record<string, unknown>) => {
    const { output, error, formatted_output_and_error: shown } = await edit(args);
    expect({ output, shown }).toEqual({ output: '', shown: `ERROR:\n${error}` });
    return error;
  };
  const content = async () => (await cell.runtime.read(path)).content;

  beforeAll(async () => {
    cell = await openSkillsCell(backend);
    place = await cell.python('import os\nprint(os.getcwd())');
    path = `${place}/notes.txt`;
  });
  afterAll(() => cell?.[Symbol.asyncDispose]());

  test('creates, replaces, inserts and undoes', async () => {
    const file_text = 'one\ntwo\nthree\ntwo\n';
    expect(await edit({ command: 'create', path, file_text })).toEqual({
      output: `File created at: ${path}`,
      error: null,
      path,
      prev_exist: false,
      old_content: null,
      new_content: file_text,
      formatted_output_and_error: `File created at: ${path}`,
    });
    const replaced = await edit({ command: 'str_replace', path, old_str: ' three ', new_str: ' 3 ' });
    expect(replaced).toMatchObject({
      prev_exist: true,
      old_content: file_text,
      new_content: 'one\ntwo\n3\ntwo\n',
      output: `The file ${path} was edited. Here is a part of ${path} with line numbers, as cat -n shows it:\n     1\tone\n     2\ttwo\n     3\t3\n     4\ttwo\nReview the change; edit the file again if it is not as wanted.`,
    });
    await edit({ command: 'insert', path, insert_line: '4', new_str: 'a\nb' });
    expect(await content()).toBe('one\ntwo\n3\ntwo\na\nb\n');
    await edit({ command: 'insert', path, insert_line: 0, new_str: 'zero' });
    expect(await content()).toBe('zero\none\ntwo\n3\ntwo\na\nb\n');
    expect((await edit({ command: 'undo_edit', path })).output).toContain('was undone. Here is');
    await edit({ command: 'undo_edit', path });
    await edit({ command: 'undo_edit', path });
    expect(await content()).toBe(file_text);
    await edit({ command: 'undo_edit', path });
    expect(await failure({ command: 'undo_edit', path })).toBe(`There is no edit of ${path} to undo.`);
  });

  test('views files, ranges of them, and directories', async () => {
    await cell.python(
      `os.makedirs("d/sub/deep"); open("d/.h", "w"); open("d/sub/f", "w"); open("d/sub/deep/g", "w")\nopen("${path}", "w").write("one\\ntwo\\nthree\\ntwo\\n")`,
    );
    const view = async (args = {}) => (await edit({ command: 'view', path, ...args })).output;
    expect(await view({ view_range: [2, -1] })).toBe(
      `Here is ${path} with line numbers, as cat -n shows it:\n     2\ttwo\n     3\tthree\n     4\ttwo\n`,
    );
    expect(await view({ view_range: [4, 9] })).toMatch(/^NOTE: the range ends at line 9, .* 4 lines.*\n/);
    expect(await view({ path: `${place}/d` })).toBe(
      `Files and directories up to 2 levels below ${place}/d, without hidden ones:\n${place}/d/\n${place}/d/sub/\n${place}/d/sub/deep/\n${place}/d/sub/f\n\n1 hidden entries of this directory are left out; 'ls -la ${place}/d' shows them.`,
    );
    await cell.python('open("big.txt", "w").write("x" * 20000)');
    const clipped = await view({ path: `${place}/big.txt` });
    expect(clipped).toContain('<response clipped><NOTE>');
    expect(clipped.length).toBeLessThan(16_500);
  });

  test('says what is wrong', async () => {
    await cell.python(
      `open("raw", "wb").write(b"a\\0b")\nopen("${path}", "w").write("one\\ntwo\\nthree\\ntwo\\n")\nos.mkfifo("pipe")\nwith open("huge", "wb") as f: f.truncate(10485761)`,
    );
    const missing = `${place}/missing`;
    const wrong: [Record<string, unknown>, string][] = [
      [{ command: 'view', path: 'notes.txt' }, `Perhaps you meant ${path}?`],
      [{ command: 'view', path: missing }, `The path ${missing} does not exist.`],
      [{ command: 'create', path, file_text: '' }, 'exists already'],
      [{ command: 'create', path: missing }, 'Parameter "file_text" is required for create.'],
      [{ command: 'create', path: `${missing}/x`, file_text: '' }, 'does not exist; make it first.'],
      [{ command: 'insert', path: place, insert_line: 0, new_str: '' }, 'is a directory'],
      [{ command: 'view', path: `${place}/raw` }, 'is a binary file'],
      [{ command: 'view', path: `${place}/pipe` }, 'is neither a file nor a directory'],
      [{ command: 'view', path: `${place}/huge` }, 'is larger than 10 MB'],
      [{ command: 'view', path: place, view_range: [1, 2] }, 'It cannot be used with a directory.'],
      [{ command: 'view', path, view_range: [1] }, 'It must be a list of two integers.'],
      [{ command: 'view', path, view_range: [5, 6] }, '[1, 4]'],
      [{ command: 'view', path, view_range: [3, 2] }, 'Its second element must be -1 or at least'],
      [{ command: 'str_replace', path }, 'Parameter "old_str" is required for str_replace.'],
      [{ command: 'str_replace', path, old_str: 'a', new_str: 'a' }, 'are the same'],
      [{ command: 'str_replace', path, old_str: 'four' }, 'Nothing was replaced: "four" is not in'],
      [{ command: 'str_replace', path, old_str: 'two', new_str: '' }, 'in lines [2, 4].'],
      [{ command: 'insert', path, new_str: 'x' }, 'Parameter "insert_line" is required for insert.'],
      [{ command: 'insert', path, insert_line: 1 }, 'Parameter "new_str" is required for insert.'],
      [{ command: 'insert', path, insert_line: 5, new_str: 'x' }, 'It must be within [0, 4]'],
      [{ command: 'insert', path, insert_line: 'x', new_str: 'x' }, 'It must be an integer.'],
      [{ command: 'fly', path }, 'view, create, str_replace, insert, undo_edit.'],
    ];
    for (const [args, message] of wrong) expect(await failure(args)).toContain(message);
    expect(await content()).toBe('one\ntwo\nthree\ntwo\n');
  });

  test('keeps the encoding and the line ends of a file', async () => {
    const bytes = async () => await cell.python(`print(open("${path}", "rb").read())`);
    await cell.python(`open("${path}", "wb").write(b"caf\\xe9\\r\\nx\\r\\n")`);
    await edit({ command: 'str_replace', path, old_str: 'x', new_str: 'thé' });
    expect(await bytes()).toBe(String.raw`b'caf\xe9\r\nth\xe9\r\n'`);
    await cell.python(`open("${path}", "wb").write("a b".encode("utf-16"))`);
    await edit({ command: 'str_replace', path, old_str: 'b', new_str: 'c' });
    expect(await bytes()).toBe(String.raw`b'\xff\xfea\x00 \x00c\x00'`);
  });
});
