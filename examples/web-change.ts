/**
 * An agent with a scripted model: it clones a repository, starts its web app, drives it in the browser, edits the code,
 * sees the change and commits, all in a sandbox and under the rules guard.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { type ActionInput, createRuntime, type Observation } from 'workcell';
import { rules } from 'workcell/security';

const page = `<!doctype html><title>Tudo</title><h1>Tudo list</h1>
<form><label>New item <input name="item"></label><button>Add</button></form><ul>ITEMS</ul>`;
const server = `import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
const items = [];
createServer((request, response) => {
  const item = new URL(request.url, 'http://localhost').searchParams.get('item');
  if (item) items.push(item);
  const list = items.map((text) => '<li>' + text.replaceAll('<', '&lt;') + '</li>').join('');
  response.end(readFileSync('page.html', 'utf8').replace('ITEMS', list));
}).listen(3000, '127.0.0.1', () => console.log('listening'));`;

type Page = Observation<'browse'>;
const idOf = (seen: Page, role: string) => seen.elements.find((element) => element.role === role)?.bid ?? '';

/** What a language model would decide from what it sees; each step gets the observation of the one before. */
const model: readonly ((seen: Observation) => ActionInput)[] = [
  () => ({ action: 'run', command: 'git clone -q origin project && cd project && ls' }),
  () => ({ action: 'run', command: 'mkfifo ../said; node server.mjs >../said & head -n 1 ../said' }),
  () => ({ action: 'browse', url: 'http://localhost:3000' }),
  (seen) => ({
    action: 'browse_interactive',
    steps: [
      { do: 'fill', bid: idOf(seen as Page, 'textbox'), value: 'Buy milk' },
      { do: 'click', bid: idOf(seen as Page, 'button') },
    ],
  }),
  () => ({
    action: 'edit',
    path: 'project/page.html',
    edits: [
      { oldText: '<title>Tudo', newText: '<title>To-do' },
      { oldText: '<h1>Tudo', newText: '<h1>To-do' },
    ],
  }),
  () => ({ action: 'browse', url: 'http://localhost:3000' }),
  () => ({ action: 'run', command: "git commit -qam 'fix: spell to-do' && git log -1 --format=%s" }),
];

const runtime = await createRuntime({
  backend: 'sandbox',
  config: false,
  guards: [rules()],
  policy: { onRisk: { low: 'allow', medium: 'allow', high: 'deny', unknown: 'deny' } },
});
try {
  await runtime.write('origin/page.html', page);
  await runtime.write('origin/server.mjs', server);
  const origin = runtime.git.at('origin');
  await origin.init();
  await origin.commit('feat: a list of things to do');
  await runtime.run('git config --global user.name Agent; git config --global user.email agent@localhost');

  const observations: Observation[] = [];
  for (const decide of model) {
    const action = decide(observations.at(-1) as Observation);
    const seen = await runtime.execute(action);
    observations.push(seen);
    console.log(
      `${action.action}: ${'text' in seen ? String(seen.text).replaceAll('\n', ' ').trim() : 'done'}`,
    );
  }
  const [, started, before, added, , after, committed] = observations as [
    unknown,
    Observation<'run'>,
    Page,
    Page,
    unknown,
    Page,
    Observation<'run'>,
  ];
  assert.equal(started.output, 'listening\n');
  assert.match(before.text, /Tudo list/);
  assert.match(added.text, /Buy milk/);
  assert.match(after.text, /To-do list[\s\S]*Buy milk/);
  assert.equal(committed.output, 'fix: spell to-do\n');
  // For whoever wants to look: SCREENSHOT=after.png
  const file = process.env.SCREENSHOT;
  if (file !== undefined && after.screenshot !== null) await writeFile(file, after.screenshot.data, 'base64');
} finally {
  await runtime.close();
}
