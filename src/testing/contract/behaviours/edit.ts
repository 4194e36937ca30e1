import { expect } from '../expect.js';
import { type Behaviours, refusal } from '../given.js';

const source = 'one\ntwo\nthree\ntwo again\nfive\n';

export const editBehaviours: Behaviours = {
  'edit.replace': async ({ runtime }) => {
    await runtime.write('file.txt', source);
    const result = await runtime.edit('file.txt', { oldText: 'three\n', newText: 'THREE\nand a half\n' });
    expect((await runtime.read('file.txt')).content).toBe('one\ntwo\nTHREE\nand a half\ntwo again\nfive\n');
    expect(result).toMatchObject({ observation: 'edit', changes: 1 });
    expect(result.diff).toContain('-three\n');
    expect(result.diff).toContain('+THREE\n+and a half\n');
    expect(result.diff).toMatch(/^@@ -\d+,?\d* \+\d+,?\d* @@/m);
    expect(result.snippet).toMatch(/3.*THREE/);
    await runtime.edit('file.txt', { oldText: 'THREE\nand a half\n', newText: '' });
    expect((await runtime.read('file.txt')).content).toBe('one\ntwo\ntwo again\nfive\n');
    await runtime.edit('file.txt', { oldText: 'five', newText: '$& $1 \\n' });
    expect((await runtime.read('file.txt')).content).toBe('one\ntwo\ntwo again\n$& $1 \\n\n');
  },

  'edit.ambiguous': async ({ runtime }) => {
    await runtime.write('file.txt', source);
    const error = await refusal(runtime.edit('file.txt', { oldText: 'two', newText: '2' }), 'edit-ambiguous');
    expect(error.message).toMatch(/\b2\b.*\b4\b/);
    expect((await runtime.read('file.txt')).content).toBe(source);
  },

  'edit.no-match': async ({ runtime }) => {
    await runtime.write('file.txt', source);
    await refusal(runtime.edit('file.txt', { oldText: 'absent', newText: 'x' }), 'edit-no-match');
    expect((await runtime.read('file.txt')).content).toBe(source);
  },

  'edit.replace-all': async ({ runtime }) => {
    await runtime.write('file.txt', source);
    expect(await runtime.edit('file.txt', { oldText: 'two', newText: '2', replaceAll: true })).toMatchObject({
      changes: 2,
    });
    expect((await runtime.read('file.txt')).content).toBe('one\n2\nthree\n2 again\nfive\n');
  },

  'edit.insert': async ({ runtime }) => {
    await runtime.write('file.txt', 'a\nb\n');
    await runtime.edit('file.txt', { insertLine: 0, newText: 'first' });
    await runtime.edit('file.txt', { insertLine: 2, newText: 'middle\n' });
    await runtime.edit('file.txt', { insertLine: 4, newText: 'last' });
    expect((await runtime.read('file.txt')).content).toBe('first\na\nmiddle\nb\nlast\n');
    await runtime.edit('file.txt', { insertLine: 99, newText: 'x' }).then(
      () => expect.unreachable('a line beyond the end was accepted'),
      () => {},
    );
    expect((await runtime.read('file.txt')).content).toBe('first\na\nmiddle\nb\nlast\n');
  },

  'edit.several': async ({ runtime }) => {
    await runtime.write('file.txt', source);
    const good = { oldText: 'one', newText: '1' };
    await refusal(
      runtime.edit('file.txt', { edits: [good, { oldText: 'absent', newText: 'x' }] }),
      'edit-no-match',
    );
    expect((await runtime.read('file.txt')).content).toBe(source);
    // Later steps see what earlier ones did.
    await runtime.edit('file.txt', {
      edits: [good, { oldText: '1\ntwo', newText: '1 2' }, { insertLine: 1, newText: 'new' }],
    });
    expect((await runtime.read('file.txt')).content).toBe('1 2\nnew\nthree\ntwo again\nfive\n');
    await runtime.edit('file.txt', { undo: true });
    expect((await runtime.read('file.txt')).content).toBe(source);
  },

  'edit.undo': async ({ runtime }) => {
    await runtime.write('file.txt', 'v0\n');
    await runtime.edit('file.txt', { oldText: 'v0', newText: 'v1' });
    await runtime.edit('file.txt', { oldText: 'v1', newText: 'v2' });
    const undone = await runtime.edit('file.txt', { undo: true });
    expect(undone.diff).toContain('-v2\n+v1\n');
    expect((await runtime.read('file.txt')).content).toBe('v1\n');
    await runtime.edit('file.txt', { undo: true });
    expect((await runtime.read('file.txt')).content).toBe('v0\n');
  },

  'edit.nothing-to-undo': async ({ runtime }) => {
    await runtime.write('file.txt', source);
    await refusal(runtime.edit('file.txt', { undo: true }), 'edit-nothing-to-undo');
    await runtime.edit('file.txt', { oldText: 'one', newText: '1' });
    await runtime.edit('file.txt', { undo: true });
    await refusal(runtime.edit('file.txt', { undo: true }), 'edit-nothing-to-undo');
  },

  'edit.line-endings': async ({ runtime }) => {
    await runtime.write('dos.txt', '\uFEFFone\r\ntwo\r\nthree', { mode: 0o600 });
    await runtime.edit('dos.txt', { oldText: 'one\ntwo', newText: 'uno\ndos' });
    await runtime.edit('dos.txt', { insertLine: 1, newText: 'new' });
    const bytes = Buffer.from((await runtime.read('dos.txt', { encoding: 'base64' })).content, 'base64');
    expect(bytes.toString()).toBe('\uFEFFuno\r\nnew\r\ndos\r\nthree');
    expect((await runtime.files.stat('dos.txt')).mode).toBe(0o600);
  },

  'edit.missing-file': async ({ runtime }) => {
    await refusal(runtime.edit('missing', { oldText: 'a', newText: 'b' }), 'not-found');
  },

  'edit.incomplete': async ({ runtime }) => {
    await runtime.write('file.txt', source);
    await refusal(runtime.execute({ action: 'edit', path: 'file.txt' }), 'invalid-action');
    await refusal(runtime.execute({ action: 'edit', path: 'file.txt', oldText: 'one' }), 'invalid-action');
    await refusal(
      runtime.execute({ action: 'edit', path: 'file.txt', oldText: 'one', insertLine: 1, newText: 'x' }),
      'invalid-action',
    );
    expect((await runtime.read('file.txt')).content).toBe(source);
  },
};
