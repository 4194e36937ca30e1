import { expect, test } from 'vitest';
import type { Observation } from '../../../src/protocol/index.js';
import { present, presentResult } from '../../../src/runtime/tools/present.js';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');
const picture = { mediaType: 'image/png', data: png };
const budget = 4096;

function presented(observation: object) {
  const answer = present(observation as Observation, budget);
  expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(budget);
  expect(Buffer.byteLength(JSON.stringify(answer.facts ?? {}))).toBeLessThanOrEqual(budget);
  expect(JSON.stringify([answer.text, answer.facts])).not.toContain(png);
  return answer;
}

test('a plot of a code cell is a picture, with the text beside it', () => {
  const outputs = [
    { type: 'stream', name: 'stdout', text: 'fit\n' },
    { type: 'display', data: { 'image/png': `${png}\n`, 'text/plain': '<Figure>' } },
  ];
  const observation = {
    observation: 'run_code',
    text: 'fit\n<Figure>\n',
    outputs,
    status: 'ok',
    endedBy: 'exit',
  };
  const { text, pictures, facts } = presented(observation);
  expect(text).toBe('fit\n<Figure>\n[status ok]');
  expect(pictures).toEqual([picture]);
  expect(facts).toMatchObject({ outputs: [{}, { data: { 'image/png': '[image/png, 16 bytes]' } }] });
});

test('screenshots are pictures, and a huge page keeps what happened there', () => {
  const shot = { ...picture, path: '/tmp/shot.png' };
  const page = {
    observation: 'browse',
    url: 'http://x/',
    error: 'no such element',
    screenshot: shot,
    marked: shot,
  };
  const { text, pictures } = presented({ ...page, tree: 'node\n'.repeat(40_000), text: 'é'.repeat(100_000) });
  expect(pictures).toEqual([picture, picture]);
  expect(text).toContain('no such element');
  expect(text).toContain('node\n');
  expect(text).toContain('éé');
});

test('pictures of MCP servers and of registered tools are found wherever they lie', () => {
  const content = [{ type: 'image', data: png, mimeType: 'image/png' }];
  expect(presented({ observation: 'call_tool_mcp', content }).pictures).toEqual([picture]);
  const url = `data:image/png;base64,${png}`;
  expect(presentResult({ steps: [{ before: url }] }, budget)).toMatchObject({ pictures: [picture] });
  expect(presentResult(url, budget)).toEqual({ text: '[image/png, 16 bytes]', pictures: [picture] });
});

test('what only claims to be a picture stays text', () => {
  for (const data of ['', 'not base64!', Buffer.from('<svg/>').toString('base64'), `${png}!`]) {
    const { pictures } = present(
      { observation: 'x', image: { mediaType: 'image/png', data } } as never,
      budget,
    );
    expect(pictures).toEqual([]);
  }
});

test('too many pictures are counted, not sent', () => {
  const { text, pictures } = presentResult({ all: Array(11).fill(picture) }, budget);
  expect(pictures).toHaveLength(8);
  expect(text).toContain('3 pictures left out');
});

test('fields that are too long are named, and the rest is there', () => {
  const { facts } = presented({ observation: 'list', entries: Array(5000).fill('name'), path: '/a' });
  expect(facts).toEqual({ path: '/a', leftOut: ['entries'] });
});

test('many fields take no time that grows with their square', () => {
  const result = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key${index}`, index]));
  const { text, facts } = presentResult(result, budget);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(budget);
  expect(facts?.leftOut).toHaveLength(8);
});

test('a command that was handed back says how to go on', () => {
  const run = {
    observation: 'run',
    output: 'working',
    exitCode: null,
    signal: null,
    endedBy: 'no-change',
    cwd: '/w',
  };
  expect(presented(run).text).toMatch(/^working\n\[still running; in \/w; an empty command .*"C-c"/);
});

test('the end of a long output stays whole', () => {
  const run = { observation: 'run', output: 'ü'.repeat(9000), exitCode: 3, endedBy: 'exit', cwd: '/w' };
  expect(presented(run).text).toMatch(/ü\n\[exit code 3; in \/w\]$/);
});
