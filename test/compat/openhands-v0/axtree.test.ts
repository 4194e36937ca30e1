import { expect, test } from 'vitest';
import { axTree } from '../../../src/compat/openhands-v0/axtree.js';

test('lines become nodes below each other, with what they say', () => {
  const text = [
    "RootWebArea 'It\\'s a \\\\ page', focused, url='http://a/?b=1, c'",
    "\t[12] textbox 'Name' value='two\\nlines', clickable, required",
    "\t\tStaticText 'in, value=\\'it\\''",
    "\t[a13] link ''",
    "\t[14] button 'cut",
  ].join('\n');
  expect(axTree(text)).toEqual({
    nodes: [
      {
        nodeId: '1',
        role: { value: 'RootWebArea' },
        name: { value: "It's a \\ page" },
        properties: [
          { name: 'focused', value: { value: true } },
          { name: 'url', value: { value: 'http://a/?b=1, c' } },
        ],
        childIds: ['2', '4'],
      },
      {
        nodeId: '2',
        role: { value: 'textbox' },
        name: { value: 'Name' },
        value: { value: 'two\nlines' },
        properties: [{ name: 'required', value: { value: true } }],
        childIds: ['3'],
        browsergym_id: '12',
      },
      {
        nodeId: '3',
        role: { value: 'StaticText' },
        name: { value: "in, value='it'" },
        properties: [],
        childIds: [],
      },
      {
        nodeId: '4',
        role: { value: 'link' },
        name: { value: '' },
        properties: [],
        childIds: [],
        browsergym_id: 'a13',
      },
    ],
  });
  expect(axTree('')).toEqual({});
});
