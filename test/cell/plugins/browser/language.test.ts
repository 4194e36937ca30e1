import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileName } from '../../../../src/cell/plugins/browser/browser-files.js';
import { parseSteps } from '../../../../src/cell/plugins/browser/language.js';
import { letters } from '../../../../src/cell/plugins/browser/observe/ids.js';
import { WorkcellError } from '../../../../src/protocol/index.js';

describe('the language of browser actions', () => {
  test.each([
    ["click('12')", [{ do: 'click', bid: '12', button: 'left', modifiers: [] }]],
    [
      'click("a12", button="right", modifiers=["Shift",])',
      [{ do: 'click', bid: 'a12', button: 'right', modifiers: ['Shift'] }],
    ],
    ["fill('3', \"it's\\n\\u00e9\\x41\" 'joined')", [{ do: 'fill', bid: '3', value: "it's\n\u00e9Ajoined" }]],
    ["fill('3', r'a\\n')", [{ do: 'fill', bid: '3', value: 'a\\n' }]],
    ['fill("3", """two\nlines""")', [{ do: 'fill', bid: '3', value: 'two\nlines' }]],
    ["select_option('4', ('a', 'b'))", [{ do: 'select_option', bid: '4', options: ['a', 'b'] }]],
    ['scroll(-1.5, +2e2)', [{ do: 'scroll', delta_x: -1.5, delta_y: 200 }]],
    ['noop()', [{ do: 'noop', wait_ms: 1000 }]],
    [
      "I (the agent) go:\n# click('9')\ngo_back()  # and\nsend_msg_to_user(text='done (really)')",
      [{ do: 'go_back' }, { do: 'send_msg_to_user', text: 'done (really)' }],
    ],
    ['goto(url="http://x/?a=(1)")', [{ do: 'goto', url: 'http://x/?a=(1)' }]],
  ])('reads %s', (text, steps) => {
    expect(parseSteps(text)).toEqual(steps);
  });

  test.each([
    ['nothing to do', /no call/],
    ["explode('1')", /no browser action explode/],
    ["click(bid='1', bid='2')", /twice/],
    ["click('1', bid='2')", /twice/],
    ["click('1', 'left', [], 4)", /takes 3 arguments/],
    ['click(document.body)', /line 1/],
    ["goto('http://x'", /expected , or \)/],
    ["fill('1', 'open)", /not closed/],
    ["click('1; drop')", /id of an element/],
    ["click(__import__('os').system('true'))", /expected a text/],
    [`click(${'['.repeat(50)}`, /too deeply/],
    ['noop()\n'.repeat(101), /at most 100/],
  ])('refuses %s', (text, problem) => {
    expect(() => parseSteps(text)).toThrow(problem);
  });

  test('answers any text with steps or with a refusal', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('click(', ')', "'", '"', ',', '[', '\\', '#', '\n', '1', 'r"', '='),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        try {
          expect(parseSteps(pieces.join('')).length).toBeGreaterThan(0);
        } catch (error) {
          expect(WorkcellError.isInstance(error) && error.code).toBe('invalid-action');
        }
      }),
    );
  });
});

test('frames are lettered so that the letters of one inside another can be told apart', () => {
  expect([0, 25, 26, 51, 52, 701, 702].map(letters)).toEqual(['a', 'z', 'aA', 'aZ', 'bA', 'zZ', 'aAA']);
});

test('the name that a page proposes for a download is only ever a name', () => {
  expect(
    ['../../x.txt', '..\\..\\y', '.bashrc', '', '/', 'a\0b.txt', `${'n'.repeat(500)}.pdf`].map(fileName),
  ).toEqual(['x.txt', 'y', 'bashrc', 'download', 'download', 'ab.txt', `${'n'.repeat(100)}.pdf`]);
});
