/** Skills that ask a model: a local endpoint in the form of OpenAI's says what it was asked. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { agentSkills, createRuntime } from '../../../../src/index.js';
import { openSkillsCell, type SkillsCell } from './cell.js';

const key = 'sk-a-key-of-the-tests';
const asked: { path: string; authorization: string | undefined; type: string; body: Buffer }[] = [];
let answer: (path: string) => {
  status?: number;
  body: unknown;
  headers?: Record<string, string>;
  cut?: true;
};

const server = createServer(async (request, response) => {
  const { authorization, 'content-type': type = '' } = request.headers;
  const path = request.url ?? '';
  asked.push({ path, authorization, type, body: await buffer(request) });
  const { status = 200, body, headers = {}, cut } = answer(path);
  response.writeHead(status, headers);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  if (cut) response.write(text, () => response.destroy());
  else response.end(text);
});
const place = mkdtempSync(join(tmpdir(), 'media-'));
let address: string;

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** In the place of the real program, which takes more to install than everything else here: it writes two frames. */
const ffmpeg = `#!/bin/sh
for last; do :; done
echo "$*" > "$(dirname "$0")/called"
case "$*" in *endless*) exec sleep 1000;; esac
case "$*" in *vast*) truncate -s 21M "$(dirname "$last")/0001.jpg"; exit;; esac
case "$*" in *wordy*) yes 'a line of an error' | head -c 3000000; exit 1;; esac
case "$*" in *broken*) echo 'Invalid data found' >&2; exit 1;; esac
printf '\\377\\330\\377first' > "$(dirname "$last")/0001.jpg"
printf '\\377\\330\\377second' > "$(dirname "$last")/0002.jpg"
`;

const said = (content: string) => ({ body: { choices: [{ message: { content } }] } });

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  mkdirSync(join(place, 'bin'));
  writeFileSync(join(place, 'bin/ffmpeg'), ffmpeg, { mode: 0o755 });
});
afterAll(() => {
  server.close();
  rmSync(place, { recursive: true, force: true });
});
beforeEach(() => {
  asked.length = 0;
  answer = () => said('A red dot.');
});

interface Question {
  readonly model: string;
  readonly max_tokens?: number;
  readonly messages: [{ content: [{ text: string }, { image_url: { url: string } }] }];
}
const questions = () => asked.map(({ body }) => JSON.parse(body.toString()) as Question);

describe('with an endpoint that variables name', () => {
  let cell: SkillsCell;
  let workspace: string;
  beforeAll(async () => {
    cell = await openSkillsCell('cli', {
      env: {
        OPENAI_BASE_URL: `http://${address}/v1/`,
        OPENAI_API_KEY: key,
        PATH: `${place}/bin:${process.env.PATH}`,
      },
    });
    workspace = await cell.python('import os; print(os.getcwd())');
    await cell.runtime.write('dot.png', png);
    for (const name of [
      'talk.mp3',
      'film.mp4',
      'broken.mp4',
      'endless.mp4',
      'wordy.mp4',
      'vast.mp4',
      'notes.txt',
    ])
      await cell.runtime.write(name, `in ${name}`);
  });
  afterAll(() => cell?.[Symbol.asyncDispose]());

  test('an image goes to the model with the question, and the key in a header alone', async () => {
    expect(await cell.python('parse_image("dot.png", "Which colour?")')).toBe(
      `[Reading image file from ${workspace}/dot.png]\nA red dot.`,
    );
    expect(asked).toMatchObject([{ path: '/v1/chat/completions', authorization: `Bearer ${key}` }]);
    const [question] = questions();
    expect(question).toMatchObject({ model: 'gpt-4o', max_tokens: 500 });
    const [text, image] = question?.messages[0].content ?? [];
    expect(text).toEqual({ type: 'text', text: 'Which colour?' });
    expect(image?.image_url.url).toBe(`data:image/png;base64,${png.toString('base64')}`);
    expect(asked[0]?.body.includes(key)).toBe(false);
  });

  test('other models and lengths are named by variables', async () => {
    await cell.python(
      'os.environ.update(OPENAI_MODEL="mine", MAX_TOKEN="0"); parse_image("dot.png"); del os.environ["OPENAI_MODEL"], os.environ["MAX_TOKEN"]',
    );
    expect(questions()).toMatchObject([{ model: 'mine' }]);
    expect(questions()[0]).not.toHaveProperty('max_tokens');
  });

  test('sound goes as a file', async () => {
    answer = () => ({ body: { text: ' Good morning. ' } });
    expect(await cell.python('parse_audio("talk.mp3")')).toBe(
      `[Transcribing audio file from ${workspace}/talk.mp3]\nGood morning.`,
    );
    const [{ path, authorization, type, body } = asked[0] as never] = asked;
    expect({ path, authorization }).toEqual({
      path: '/v1/audio/transcriptions',
      authorization: `Bearer ${key}`,
    });
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    expect(form.get('model')).toBe('whisper-1');
    const file = form.get('file') as File;
    expect([file.name, await file.text()]).toEqual(['talk.mp3', 'in talk.mp3']);
  });

  test('of a film the model sees every frame of that number', async () => {
    expect(await cell.python('parse_video("film.mp4", "What is there?", 25)')).toBe(
      `[Reading every frame number 25 of the video file from ${workspace}/film.mp4]\n@@ Frame 1 @@\nA red dot.\n\n@@ Frame 26 @@\nA red dot.`,
    );
    const seen = questions().map(({ messages }) => messages[0].content[1].image_url.url.split(',')[1]);
    const frames = seen.map((data = '') => Buffer.from(data, 'base64').subarray(3).toString());
    expect(frames).toEqual(['first', 'second']);
    const called = await cell.python(`print(open("${place}/bin/called").read())`);
    expect(called).toMatch(/-protocol_whitelist file -format_whitelist mov,[a-z0-9,]+ -i file:/);
    expect(called).not.toMatch(/concat|hls|image2/);
    expect(called).toContain(` -i file:${workspace}/film.mp4 -vf select='not(mod(n,25))'`);
    expect(called).toContain('-frames:v 32 ');
  });

  test.each([
    ['parse_image("none.png")', 'File none.png not found.'],
    ['parse_image("notes.txt")', '/notes.txt is no image that a model takes: PNG, JPEG, GIF or WebP.'],
    ['parse_video("film.mp4", frame_interval=0)', 'frame_interval must be at least 1.'],
    ['parse_video("broken.mp4")', '/broken.mp4 cannot be read as a film: Invalid data found'],
    ['parse_video("vast.mp4")', '/0001.jpg is larger than 20 MB.'],
    ['open("large", "wb").truncate(21 << 20); parse_image("large")', '/large is larger than 20 MB.'],
  ])('%s is refused before anybody is asked', async (code, reason) => {
    expect(await cell.python(code)).toMatch(new RegExp(`^ERROR: .*${reason.replaceAll(/[.()]/g, '\\$&')}`));
    expect(asked).toEqual([]);
  });

  test.each([
    [{ status: 401, body: `your key ${key} is wrong` }, 'The model of parse_image answered with status 401.'],
    [
      { status: 302, body: '', headers: { location: '/elsewhere' } },
      'The model of parse_image answered with status 302.',
    ],
    [{ body: 'no JSON' }, 'The answer of the model of parse_image is no JSON.'],
    [{ body: { choices: [] } }, 'The model of parse_image gave no text.'],
    [{ body: 'x'.repeat(1_100_000) }, 'The answer of the model of parse_image is too long.'],
  ])('an answer that is none is told without the key, %#', async (given, reason) => {
    answer = () => given;
    expect(await cell.python('parse_image("dot.png")')).toBe(`ERROR: ${reason}`);
    expect(asked.length).toBe(1);
  });

  test.each([
    ['a key with a line break', { OPENAI_API_KEY: 'sk-first\nsk-second' }, 'OPENAI_API_KEY is no key'],
    ['a key of other letters', { OPENAI_API_KEY: 'sk-fírst' }, 'OPENAI_API_KEY is no key'],
    ['a password in the address', { OPENAI_BASE_URL: 'http://me:sk-first@127.0.0.1/v1' }, 'broke off'],
    ['no address at all', { OPENAI_BASE_URL: 'sk-first' }, 'broke off'],
  ])('%s is refused in words that do not have it', async (_, variables, reason) => {
    const told = await cell.python(
      `from unittest import mock\nwith mock.patch.dict(os.environ, ${JSON.stringify(variables)}): parse_image("dot.png")`,
    );
    expect(told).toMatch(new RegExp(`^ERROR: .*${reason}`));
    expect(told).not.toMatch(/sk-/);
    expect(asked).toEqual([]);
  });

  test('an answer that breaks off is told as one', async () => {
    answer = () => ({ body: 'short', cut: true });
    expect(await cell.python('parse_image("dot.png")')).toMatch(
      /^ERROR: The model of parse_image cannot be reached: it broke off/,
    );
  });

  test('a film that takes too long is given up', async () => {
    const code = 'import agentskills; agentskills._film_seconds = 0\nparse_video("endless.mp4")';
    expect(await cell.python(code)).toBe('ERROR: The film takes too long to read.');
    await cell.python('agentskills._film_seconds = 600');
  });

  test('of many words of the program for films only the last are kept', async () => {
    const told = await cell.python('parse_video("wordy.mp4")');
    expect(told).toMatch(/^ERROR: .*cannot be read as a film: /);
    expect(told.length).toBeLessThan(700);
  });

  test('without a model, or without the program for films, they say how to get it', async () => {
    const without = (name: string, call: string) =>
      cell.python(`from unittest import mock\nwith mock.patch.dict(os.environ, ${name}): ${call}`);
    expect(await without('{"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}', 'parse_audio("talk.mp3")')).toBe(
      "ERROR: parse_audio asks a model, and none is named. Set OPENAI_API_KEY, and for an endpoint other than OpenAI's OPENAI_BASE_URL, in the environment of the cell.",
    );
    expect(await without('{"PATH": "/nowhere"}', 'parse_video("film.mp4")')).toContain(
      'parse_video needs the program ffmpeg',
    );
    expect(asked).toEqual([]);
  });

  test('as tools they are there for whoever asks for them', async () => {
    const names = (await agentSkills()).map(({ name }) => name);
    expect(names.filter((name) => /image|audio|video/.test(name))).toEqual([]);
    const tools = cell.runtime.add(await agentSkills({ media: true })).getTools();
    const image = tools.find(({ name }) => name === 'parse_image');
    expect(await image?.execute({ file_path: join(workspace, 'dot.png') })).toContain('A red dot.');
  });
});

test('a sandbox asks with a key that never enters it', async () => {
  const startup = 'from agentskills import *';
  await using runtime = await createRuntime({
    backend: 'sandbox',
    config: false,
    plugins: [{ name: 'jupyter', options: { startup } }, 'agent-skills'],
    env: { OPENAI_BASE_URL: 'http://model.test/v1' },
    secrets: { OPENAI_API_KEY: { value: key, reach: 'network', hosts: ['http://model.test'] } },
    network: { allow: ['model.test'], hosts: { 'model.test': address } },
  });
  await runtime.write('dot.png', png);
  const { text } = await runtime.runCode(
    'parse_image("dot.png")\nimport os; print(os.environ["OPENAI_API_KEY"])',
  );
  expect(text).toContain('A red dot.');
  expect(text).not.toContain(key);
  expect(asked).toMatchObject([{ authorization: `Bearer ${key}` }]);
});
