import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EditHistory } from '../../../../src/cell/executor/files/edit-history.js';
import { codeOf, errorOf, makeScratch, type Scratch } from './scratch.js';

function scratchWith(content: string | Buffer): Scratch & { content: () => Buffer } {
  const scratch = makeScratch();
  const file = join(scratch.root, 'a.txt');
  writeFileSync(file, content);
  return { ...scratch, content: () => readFileSync(file) };
}

describe('edit', () => {
  it('replaces exact text and shows the change', async () => {
    const { act, content } = scratchWith('1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n');
    const edited = await act({
      action: 'edit',
      path: 'a.txt',
      oldText: '6\n',
      newText: 'six\nsix and a half\n',
    });
    expect(content().toString()).toBe('1\n2\n3\n4\n5\nsix\nsix and a half\n7\n8\n9\n10\n');
    expect(edited.diff).toBe(
      '--- a/a.txt\n+++ b/a.txt\n@@ -2,9 +2,10 @@\n 2\n 3\n 4\n 5\n-6\n+six\n+six and a half\n 7\n 8\n 9\n 10\n',
    );
    expect(edited.snippet).toBe(
      ' 2\t2\n 3\t3\n 4\t4\n 5\t5\n 6\tsix\n 7\tsix and a half\n 8\t7\n 9\t8\n10\t9\n11\t10',
    );
    expect(edited.changes).toBe(1);
  });

  it('takes replacement text literally', async () => {
    const { act, content } = scratchWith('a.b $1\n');
    await act({ action: 'edit', path: 'a.txt', oldText: 'a.b', newText: "$& $1 $$ $'" });
    expect(content().toString()).toBe("$& $1 $$ $' $1\n");
  });

  it('refuses text that is absent or ambiguous, and says where to look', async () => {
    const { act, content } = scratchWith('if (x) {\n\treturn  1;\n}\nreturn 2;\nreturn 2;\n');
    const absent = await errorOf(
      act({ action: 'edit', path: 'a.txt', oldText: '    return 1;', newText: 'x' }),
    );
    expect(absent.code).toBe('edit-no-match');
    expect(absent.message).toMatch(/Line 2 differs/);
    const twice = await errorOf(act({ action: 'edit', path: 'a.txt', oldText: 'return 2;', newText: 'x' }));
    expect(twice.code).toBe('edit-ambiguous');
    expect(twice.message).toMatch(/lines 4, 5/);
    expect(content().toString()).toContain('return  1;');
    const all = await act({
      action: 'edit',
      path: 'a.txt',
      oldText: 'return 2;',
      newText: 'x',
      replaceAll: true,
    });
    expect(all.changes).toBe(2);
  });

  it('keeps CRLF line ends when the agent writes LF', async () => {
    const { act, content } = scratchWith('one\r\ntwo\r\nthree\r\n');
    await act({ action: 'edit', path: 'a.txt', oldText: 'one\ntwo', newText: 'one\n1.5\ntwo' });
    await act({ action: 'edit', path: 'a.txt', oldText: 'three', newText: '3\n4' });
    await act({ action: 'edit', path: 'a.txt', insertLine: 0, newText: 'zero' });
    expect(content().toString()).toBe('zero\r\none\r\n1.5\r\ntwo\r\n3\r\n4\r\n');
  });

  it.each([
    ['UTF-8 with a mark', Buffer.from('\uFEFFgrün\n'), Buffer.from('\uFEFFblau\n')],
    ['UTF-16 little endian', Buffer.from('\uFEFFgrün\n', 'utf16le'), Buffer.from('\uFEFFblau\n', 'utf16le')],
    [
      'UTF-16 big endian',
      Buffer.from('\uFEFFgrün\n', 'utf16le').swap16(),
      Buffer.from('\uFEFFblau\n', 'utf16le').swap16(),
    ],
    ['Latin-1', Buffer.from('gr\xfcn\n\xe9', 'latin1'), Buffer.from('blau\n\xe9', 'latin1')],
  ])('keeps the encoding: %s', async (_name, before, after) => {
    const { act, content } = scratchWith(before);
    await act({ action: 'edit', path: 'a.txt', oldText: 'grün', newText: 'blau' });
    expect(content()).toEqual(after);
  });

  it('refuses binary files and characters that Latin-1 does not have', async () => {
    const binary = scratchWith('a\0b');
    expect(await codeOf(binary.act({ action: 'edit', path: 'a.txt', oldText: 'a', newText: 'b' }))).toBe(
      'not-a-file',
    );
    const latin = scratchWith(Buffer.from('\xe9', 'latin1'));
    expect(await codeOf(latin.act({ action: 'edit', path: 'a.txt', oldText: 'é', newText: '€' }))).toBe(
      'invalid-action',
    );
  });

  it('inserts whole lines', async () => {
    const { act, content } = scratchWith('a\nb');
    await act({ action: 'edit', path: 'a.txt', insertLine: 1, newText: 'between' });
    await act({ action: 'edit', path: 'a.txt', insertLine: 3, newText: 'last' });
    expect(content().toString()).toBe('a\nbetween\nb\nlast');
    const beyond = await errorOf(act({ action: 'edit', path: 'a.txt', insertLine: 5, newText: 'x' }));
    expect(beyond.message).toMatch(/4 lines/);
  });

  it('applies several edits in order, or none', async () => {
    const { act, content } = scratchWith('a b c\n');
    const edits = [
      { oldText: 'a', newText: 'x' },
      { oldText: 'x b', newText: 'y' },
      { insertLine: 1, newText: 'z' },
    ];
    expect(await act({ action: 'edit', path: 'a.txt', edits })).toMatchObject({ changes: 3 });
    expect(content().toString()).toBe('y c\nz\n');
    const broken = [
      { oldText: 'y', newText: 'n' },
      { oldText: 'absent', newText: 'n' },
    ];
    expect((await errorOf(act({ action: 'edit', path: 'a.txt', edits: broken }))).message).toMatch(
      /^Edit 2 of 2/,
    );
    expect(content().toString()).toBe('y c\nz\n');
  });

  it('takes edits back, newest first, unless the file changed since', async () => {
    const { root, act, content } = scratchWith('one\n');
    symlinkSync('a.txt', join(root, 'link'));
    await act({ action: 'edit', path: 'a.txt', oldText: 'one', newText: 'two' });
    await act({ action: 'edit', path: 'link', oldText: 'two', newText: 'three' });
    const undone = await act({ action: 'edit', path: 'a.txt', undo: true });
    expect(undone.diff).toContain('-three\n+two');
    await act({ action: 'edit', path: 'a.txt', undo: true });
    expect(content().toString()).toBe('one\n');
    expect(await codeOf(act({ action: 'edit', path: 'a.txt', undo: true }))).toBe('edit-nothing-to-undo');
    await act({ action: 'edit', path: 'a.txt', oldText: 'one', newText: 'two' });
    writeFileSync(join(root, 'a.txt'), 'changed\n');
    const refused = await errorOf(act({ action: 'edit', path: 'a.txt', undo: true }));
    expect(refused.code).toBe('edit-nothing-to-undo');
    expect(refused.message).toMatch(/changed by something else/);
  });

  it('needs exactly one kind of edit', async () => {
    const { act } = scratchWith('one\n');
    const shapes = [
      {},
      { oldText: 'one' },
      { newText: 'one' },
      { oldText: 'one', newText: 'one' },
      { oldText: 'one', newText: 'x', insertLine: 0 },
      { undo: true, oldText: 'one', newText: 'x' },
      { undo: true, newText: 'x' },
      { edits: [{ oldText: 'one', newText: 'x' }], undo: true },
      { insertLine: 0, newText: '' },
    ];
    for (const shape of shapes) {
      expect(await codeOf(act({ action: 'edit', path: 'a.txt', ...shape })), JSON.stringify(shape)).toBe(
        'invalid-action',
      );
    }
  });

  it('is quick for a large file that changes everywhere', async () => {
    const { act, content } = scratchWith('alpha\nbeta\n'.repeat(100_000));
    const edited = await act({
      action: 'edit',
      path: 'a.txt',
      oldText: 'alpha',
      newText: 'gamma',
      replaceAll: true,
    });
    expect(edited.changes).toBe(100_000);
    expect(edited.diff.length).toBeLessThan(1_000_000);
    expect(content().length).toBe(1_100_000);
  });
});

/** Counts the turns that others had while something was done. */
async function turnsDuring(work: Promise<unknown>, onTurn = () => {}): Promise<number> {
  let turns = 0;
  const counting = setInterval(() => {
    turns++;
    onTurn();
  }, 1);
  try {
    await work;
    return turns;
  } finally {
    clearInterval(counting);
  }
}

describe('an edit of a long file', () => {
  const long = 16 * 1024 * 1024;
  const fewest = 5;

  it('shows the one line that differs among millions', async () => {
    const { act } = scratchWith(`${'\n'.repeat(long - 4)}end\n`);
    const editing = act({ action: 'edit', path: 'a.txt', oldText: 'end', newText: 'fin' });
    expect(await turnsDuring(editing)).toBeGreaterThan(fewest);
    const line = long - 3;
    expect((await editing).diff).toBe(
      `--- a/a.txt\n+++ b/a.txt\n@@ -${line - 4},5 +${line - 4},5 @@\n \n \n \n \n-end\n+fin\n`,
    );
  });

  it('says that a text is absent, and names the first places of one that is everywhere', async () => {
    const { act } = scratchWith('a'.repeat(long));
    const edit = (oldText: string) => act({ action: 'edit', path: 'a.txt', oldText, newText: 'x' });
    const absent = errorOf(edit('b'));
    expect(await turnsDuring(absent)).toBeGreaterThan(fewest);
    expect(await absent).toMatchObject({ code: 'edit-no-match' });
    const everywhere = await errorOf(edit('a'));
    expect(everywhere).toMatchObject({ code: 'edit-ambiguous', details: { lines: Array(20).fill(1) } });
    expect(everywhere.message).toMatch(/more than 20 times/);
  });

  it('replaces every character, and refuses to grow the file beyond the limit', async () => {
    const length = long / 4;
    const { act, content } = scratchWith('a'.repeat(length));
    const replace = (newText: string) =>
      act({ action: 'edit', path: 'a.txt', oldText: 'a', newText, replaceAll: true });
    expect(await codeOf(replace('a'.repeat(100_000)))).toBe('file-too-large');
    const replacing = replace('\n');
    expect(await turnsDuring(replacing)).toBeGreaterThan(fewest);
    expect(await replacing).toMatchObject({ changes: length });
    expect((await replacing).diff.length).toBeLessThan(100_000);
    expect(content().equals(Buffer.alloc(length, '\n'))).toBe(true);
  });

  it('finds lines with other line ends wherever they are', async () => {
    const filler = 'x\r\n'.repeat(100_000);
    const { act, content } = scratchWith(`${filler}one\r\ntwo\r\n${filler}one\r\ntwo`);
    const edit = { action: 'edit', path: 'a.txt', oldText: 'one\ntwo', newText: '1\n2' } as const;
    expect(await codeOf(act(edit))).toBe('edit-ambiguous');
    expect(await act({ ...edit, replaceAll: true })).toMatchObject({ changes: 2 });
    expect(content().toString()).toBe(`${filler}1\r\n2\r\n${filler}1\r\n2`);
  });

  it.each(['utf8', 'utf16le', 'latin1'] as const)('keeps each character: %s', async (encoding) => {
    const text = `${encoding === 'utf16le' ? '\uFEFF' : ''}${'ü'.repeat(300_001)}${encoding === 'latin1' ? '' : '€😀'.repeat(100_001)}`;
    const { act, content } = scratchWith(Buffer.from(`${text}!`, encoding));
    await act({ action: 'edit', path: 'a.txt', oldText: '!', newText: '?' });
    expect(content().equals(Buffer.from(`${text}?`, encoding))).toBe(true);
  });

  it('starts again when the file changes meanwhile', async () => {
    const { root, act, content } = scratchWith(`${'a'.repeat(long - 3)}end`);
    let isWritten = false;
    await turnsDuring(act({ action: 'edit', path: 'a.txt', oldText: 'end', newText: 'fin' }), () => {
      if (!isWritten) writeFileSync(join(root, 'a.txt'), 'the end');
      isWritten = true;
    });
    expect(content().toString()).toBe('the fin');
  });

  it('edits that come together all count', async () => {
    const { act, content } = scratchWith('one two three');
    const edit = (oldText: string) =>
      act({ action: 'edit', path: 'a.txt', oldText, newText: oldText.toUpperCase() });
    await Promise.all(['one', 'two', 'three'].map(edit));
    expect(content().toString()).toBe('ONE TWO THREE');
  });
});

describe('the edit history', () => {
  it('keeps ten edits of a file and a bounded number of bytes', () => {
    const history = new EditHistory(1000);
    const version = (number: number) => Buffer.from(`version ${number}`);
    const digest = (number: number) => `digest ${number}`;
    for (let number = 0; number < 15; number++) history.record('a', version(number), digest(number + 1));
    for (let number = 15; number > 5; number--) history.last('a', digest(number)).forget();
    expect(() => history.last('a', digest(5))).toThrow(/no longer kept/);
    history.record('b', Buffer.alloc(600), 'empty');
    history.record('c', Buffer.alloc(600), 'empty');
    expect(() => history.last('b', 'empty')).toThrow();
    expect(history.last('c', 'empty').before).toHaveLength(600);
  });
});
