import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textOf } from '../../../../src/cell/plugins/jupyter/code-output-text.js';
import { Outputs } from '../../../../src/cell/plugins/jupyter/outputs.js';

function make(textBytes = 1024, mediaBytes = 100) {
  const kept = { stdout: '', stderr: '' };
  const outputs = new Outputs({ textBytes, mediaBytes }, () => ({
    id: 'kept',
    append: (stream, chunk) => {
      kept[stream] += chunk.toString();
    },
    end() {},
  }));
  return { outputs, kept };
}

describe('outputs', () => {
  test('of any sizes stay within their bounds, keep both ends, and count what is missing', () => {
    const text = fc
      .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }), fc.nat(400))
      .map(([word, times]) => word.repeat(times));
    const printed = fc.array(fc.tuple(fc.constantFrom('stdout', 'stderr'), text), { maxLength: 8 });
    fc.assert(
      fc.property(printed, (pieces) => {
        const { outputs, kept } = make();
        for (const [stream, text] of pieces) outputs.stream(stream as 'stdout', text);
        const list = outputs.list();
        const whole = pieces.map(([, text]) => text).join('');
        expect(kept.stdout.length + kept.stderr.length).toBe(whole.length);
        const shown = list.map((output) => (output.type === 'stream' ? output.text : ''));
        const shownBytes = Buffer.byteLength(shown.join(''));
        expect(shownBytes).toBeLessThanOrEqual(1024);
        const gap = list.findIndex(({ type }) => type === 'gap');
        if (gap === -1) {
          expect(shown.join('')).toBe(whole);
          return;
        }
        const { omittedBytes } = list[gap] as { omittedBytes: number };
        expect(shownBytes + omittedBytes).toBe(Buffer.byteLength(whole));
        expect(whole.startsWith(shown.slice(0, gap).join(''))).toBe(true);
        expect(whole.endsWith(shown.slice(gap + 1).join(''))).toBe(true);
        expect(outputs).toMatchObject({ truncated: true, keptId: 'kept' });
      }),
    );
  });

  test('that come one by one without end are few in the end', () => {
    const { outputs } = make(65_536);
    for (let n = 0; n < 5000; n++) outputs.show({ type: 'display', data: { 'text/plain': String(n) } });
    const list = outputs.list();
    expect(list.length).toBeLessThanOrEqual(1001);
    expect(list.at(-1)).toMatchObject({ data: { 'text/plain': '4999' } });
  });

  test('that take the place of others take their room, too', () => {
    const { outputs } = make();
    const picture = (sign: string) => ({ type: 'display' as const, data: { 'image/png': sign.repeat(60) } });
    outputs.show(picture('a'), 'one');
    for (const sign of 'bcd') expect(outputs.update(picture(sign), 'one')).toEqual(picture(sign));
    expect(outputs.update(picture('e'), 'another')).toBeUndefined();
    expect(outputs.list()).toEqual([picture('d')]);
    expect(outputs.truncated).toBe(false);
  });

  test('media beyond their budget are left out by name', () => {
    const { outputs } = make();
    for (const size of [60, 60, 30])
      outputs.show({ type: 'display', data: { 'image/png': 'x'.repeat(size), 'text/plain': 'p' } });
    expect(outputs.list()).toMatchObject([
      { data: { 'image/png': 'x'.repeat(60) } },
      { data: { 'text/plain': 'p' }, omitted: { 'image/png': 60 } },
      { data: { 'image/png': 'x'.repeat(30) } },
    ]);
  });

  test('an error keeps the end of its traceback, and is not crowded out by what was printed', () => {
    const { outputs } = make();
    outputs.stream('stdout', 'x'.repeat(10_000));
    outputs.error('E', 'm', [...Array(2000).fill('frame'), 'the last']);
    const last = outputs.list().at(-1);
    expect(last).toMatchObject({ type: 'error', name: 'E' });
    expect((last as { traceback: string[] }).traceback.at(-1)).toBe('the last');
  });

  test('clearing takes effect at once, or with the next output', () => {
    const { outputs } = make();
    outputs.stream('stdout', 'a');
    outputs.clear(true);
    expect(textOf(outputs.list())).toBe('a');
    outputs.stream('stdout', 'b');
    expect(textOf(outputs.list())).toBe('b');
    outputs.clear(false);
    expect(outputs.list()).toEqual([]);
  });

  test('as text they stand on lines of their own, without colours', () => {
    const { outputs } = make();
    outputs.stream('stdout', 'no line end');
    outputs.show({ type: 'result', data: { 'text/plain': '\u001b[31m7\u001b[0m' } });
    outputs.show({ type: 'display', data: { 'image/png': 'x' } });
    expect(textOf(outputs.list())).toBe('no line end\n7\n[image/png]\n');
  });

  test('a traceback of endless empty lines is cut, at no more cost than its length', () => {
    const { outputs } = make(65_536);
    outputs.error('Error', 'boom', Array<string>(500_000).fill(''));
    const [error] = outputs.list();
    expect(error).toHaveProperty('traceback.length', 1000);
    expect(outputs.truncated).toBe(true);
  });

  test('errors after the first count as text, so that no number of them takes more', () => {
    const { outputs } = make(4096);
    for (let count = 0; count < 300; count++) outputs.error('Error', 'x'.repeat(1000), []);
    expect(JSON.stringify(outputs.list()).length).toBeLessThan(3 * 4096);
  });

  test('displays that are updated stay within the budget, however long their texts become', () => {
    const { outputs } = make(4096);
    for (let id = 0; id < 300; id++) outputs.show({ type: 'display', data: { 'text/plain': 'x' } }, `${id}`);
    for (let id = 0; id < 300; id++)
      outputs.update({ type: 'display', data: { 'text/plain': 'y'.repeat(2000) } }, `${id}`);
    expect(textOf(outputs.list()).length).toBeLessThan(3 * 4096);
  });

  test('a display that is not shown any more is not kept for updates', () => {
    const { outputs } = make(1024);
    const text = (value: string) => ({ type: 'display' as const, data: { 'text/plain': value } });
    for (let id = 0; id < 5000; id++) outputs.show(text('x'.repeat(400)), `${id}`);
    expect(outputs.update(text('y'), '2500')).toBeUndefined();
    expect(outputs.update(text('y'), '4999')).toBeDefined();
  });

  test('of the forms of a display a few are kept', () => {
    const { outputs } = make(1024, 1_000_000);
    const data = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`x/${index}`, 'x']));
    const { data: kept } = outputs.show({ type: 'display', data });
    expect(Object.keys(kept).length).toBeLessThanOrEqual(32);
  });
});
