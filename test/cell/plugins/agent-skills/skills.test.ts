import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentSkills } from '../../../../src/index.js';
import { numbers, openSkillsCell, type SkillsCell } from './cell.js';

describe.each(['cli', 'sandbox'] as const)('on %s', (backend) => {
  let cell: SkillsCell;
  let path: string;
  const python = (code: string) => cell.python(code);
  const shown = (above: string, lines: readonly string[], below: string) =>
    [`[File: ${path} (250 lines total)]`, above, ...lines, below].join('\n');

  beforeAll(async () => {
    cell = await openSkillsCell(backend);
    path = await python(
      'import os\nopen("long.txt", "w").write("".join("line %d\\n" % n for n in range(1, 251)))\nprint(os.path.abspath("long.txt"))',
    );
  });
  afterAll(() => cell?.[Symbol.asyncDispose]());

  test('nothing is open before a file was opened', async () => {
    const error = 'ERROR: No file open. Use the open_file function first.';
    const calls = 'goto_line(1)\nscroll_down()\nscroll_up()\nsearch_file("x")';
    expect(await python(calls)).toBe([error, error, error, error].join('\n'));
  });

  test('open_file shows a window around a line', async () => {
    const begin = '(this is the beginning of the file)';
    expect(await python('open_file("long.txt")')).toBe(
      shown(begin, numbers(1, 100), '(150 more lines below)'),
    );
    expect(await python('open_file("long.txt", 20, 4)')).toBe(
      shown('(17 more lines above)', numbers(18, 21), '(229 more lines below)'),
    );
    expect(await python('open_file("long.txt", line_number=250, context_lines=1000)')).toBe(
      shown('(150 more lines above)', numbers(151, 250), '(this is the end of the file)'),
    );
    expect(await python('open("empty", "w").close()\nopen_file("empty")')).toMatch(
      /^\[File: \/.*\/empty \(0 lines total\)\]\n\(this is the beginning of the file\)\n\(this is the end of the file\)$/,
    );
  });

  test('open_file returns nothing, and says what is wrong', async () => {
    expect(await python('print(open_file("missing"))')).toBe('ERROR: File missing not found.\nNone');
    expect(await python('open_file(".")')).toBe('ERROR: File . not found.');
    for (const line of [0, 251, '"x"'])
      expect(await python(`open_file("long.txt", ${line})`)).toBe(
        'ERROR: Line number must be between 1 and 250.',
      );
    expect(await python('open_file("long.txt", 1, 0)')).toBe('ERROR: context_lines must be at least 1.');
  });

  test('the window moves without a gap and stops at both ends', async () => {
    await python('open_file("long.txt")');
    expect(await python('goto_line(120)')).toBe(
      shown('(69 more lines above)', numbers(70, 169), '(81 more lines below)'),
    );
    expect(await python('scroll_up()')).toBe(
      shown('(this is the beginning of the file)', numbers(1, 100), '(150 more lines below)'),
    );
    expect(await python('scroll_down()')).toBe(
      shown('(100 more lines above)', numbers(101, 200), '(50 more lines below)'),
    );
    const last = shown('(150 more lines above)', numbers(151, 250), '(this is the end of the file)');
    expect(await python('scroll_down()')).toBe(last);
    expect(await python('scroll_down()')).toBe(last);
    expect(await python('goto_line(251)')).toBe('ERROR: Line number must be between 1 and 250.');
    expect(await python('open("gone", "w").write("x")\nopen_file("gone")\nos.remove("gone")')).toBeDefined();
    expect(await python('scroll_down()')).toMatch(/^ERROR: File \/.*\/gone not found\.$/);
  });

  test('search_file looks through the current file or another', async () => {
    await python('open_file("long.txt")');
    expect(await python('search_file("line 25")')).toBe(
      `[Found 2 matches for "line 25" in ${path}]\nLine 25: line 25\nLine 250: line 250\n[End of matches for "line 25" in ${path}]`,
    );
    expect(await python('search_file("nowhere", "long.txt")')).toBe(
      `[No matches found for "nowhere" in ${path}]`,
    );
    expect(await python('search_file("x", "missing")')).toBe('ERROR: File missing not found.');
  });

  test('search_dir leaves out what is hidden and refuses more than 100 files', async () => {
    await python(
      'os.makedirs("tree/sub"); os.makedirs("tree/.git")\nfor name in ["b.txt", "sub/a.txt", ".hidden", ".git/config"]:\n    open("tree/" + name, "w").write("one\\n  needle here\\n")\nopen("tree/raw", "wb").write(b"\\xff\\xfe needle\\n")',
    );
    expect(await python('search_dir("needle", "tree")')).toBe(
      [
        '[Found 3 matches for "needle" in tree]',
        'tree/b.txt (Line 2): needle here',
        'tree/raw (Line 1): \ufffd\ufffd needle',
        'tree/sub/a.txt (Line 2): needle here',
        '[End of matches for "needle" in tree]',
      ].join('\n'),
    );
    expect(await python('search_dir("nowhere", "tree")')).toBe('[No matches found for "nowhere" in tree]');
    expect(await python('search_dir("x", "missing")')).toBe('ERROR: Directory missing not found.');
    await python(
      'os.mkdir("many")\nfor n in range(101): open("many/%d" % n, "w").write("common rare" if n else "common")',
    );
    expect(await python('search_dir("rare", "many")')).toContain('[Found 100 matches for "rare" in many]');
    expect(await python('search_dir("common", "many")')).toBe(
      'ERROR: More than 100 files matched for "common" in many. Please narrow your search.',
    );
  });

  test('find_file goes by a part of the name', async () => {
    await python('os.makedirs("names/deep"); open("names/deep/report.txt", "w"); open("names/reports", "w")');
    expect(await python('find_file("report", "names")')).toBe(
      '[Found 2 matches for "report" in names]\nnames/reports\nnames/deep/report.txt\n[End of matches for "report" in names]',
    );
    expect(await python('find_file("nothing", "names")')).toBe('[No matches found for "nothing" in names]');
    expect(await python('find_file("x", "missing")')).toBe('ERROR: Directory missing not found.');
    expect(await python('find_file("long.t")')).toContain('\n./long.txt\n');
  });

  test('every Python of the cell finds the module', async () => {
    const names =
      'file_editor find_file goto_line open_file parse_audio parse_docx parse_image parse_latex parse_pdf parse_pptx parse_video scroll_down scroll_up search_dir search_file';
    const { output } = await cell.runtime.run(
      'python3 -c "import agentskills; print(*sorted(agentskills.__all__))"',
    );
    expect(output.trim()).toBe(names);
  });

  test('as tools they return their text and keep the current file', async () => {
    const tools = cell.runtime.add(await agentSkills()).getTools();
    const call = (name: string, input: unknown = {}) =>
      tools.find((tool) => tool.name === name)?.execute(input);
    expect(await call('open_file', { path })).toBe(
      shown('(this is the beginning of the file)', numbers(1, 100), '(150 more lines below)'),
    );
    expect(await call('goto_line', { line_number: 999 })).toBe(
      'ERROR: Line number must be between 1 and 250.',
    );
    expect(await call('scroll_down')).toContain('\n101|line 101\n');
    expect(await call('file_editor', { command: 'view', path, view_range: [2, 3] })).toContain(
      '     2\tline 2\n     3\tline 3\n',
    );
    await expect(call('open_file', { file: path })).rejects.toMatchObject({ code: 'invalid-arguments' });
  });
});

test('the search path that a cell had comes first', async () => {
  const { createRuntime } = await import('../../../../src/index.js');
  await using runtime = await createRuntime({
    backend: 'cli',
    config: false,
    plugins: ['agent-skills'],
    env: { PYTHONPATH: '/mine' },
  });
  const { output } = await runtime.run('echo "$PYTHONPATH"');
  expect(output).toMatch(/^\/mine:\/.*\/agent-skills\s*$/);
  expect(await runtime.capabilities()).toContainEqual(
    expect.objectContaining({ name: 'agent-skills', state: 'ready' }),
  );
});
