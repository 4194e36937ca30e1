import type { WorkcellEvent } from '../../../index.js';
import { type CreateRuntimeOptions, createRuntime, type Runtime, type Terminal } from '../../../index.js';
import { factCodes, isEnforced, isolationTiers } from '../../../protocol/index.js';
import { expect } from '../expect.js';
import {
  type Behaviours,
  begin,
  collect,
  countProcesses,
  eventually,
  fixture,
  refusal,
  sh,
  uniqueWord,
} from '../given.js';

export const runtimeBehaviours: Behaviours = {
  'ports.forward': async ({ runtime }) => {
    const server = await runtime.processes.start([
      'python3',
      '-uc',
      'import http.server as h; s = h.HTTPServer(("127.0.0.1", 0), h.SimpleHTTPRequestHandler); print(s.server_port); s.serve_forever()',
    ]);
    await runtime.write('page.txt', 'from inside');
    const port = await firstLine(runtime, server.id);
    const forwarded = await runtime.ports.forward(Number(port));
    const ask = () => fetch(`${forwarded.url}/page.txt`, { headers: { connection: 'close' } });
    for (let round = 0; round < 3; round++) expect(await (await ask()).text()).toBe('from inside');
    await runtime.processes.signal(server.id, 'SIGKILL');
    await runtime.processes.wait(server.id);
    await expect(ask()).rejects.toThrow();
    await forwarded.close();
    await expect(ask()).rejects.toThrow();
  },

  'terminals.session': async ({ runtime }) => {
    const terminal = await runtime.terminals.open({ argv: ['bash', '--norc'], env: { PS1: 'ready> ' } });
    const screen = watchScreen(terminal);
    await eventually(() => screen.text.includes('ready> '), 'the prompt is shown');
    terminal.write('echo $((6 * 7))\n');
    await eventually(() => screen.text.includes('42'), 'the answer is shown');
    terminal.write('exit 5\n');
    expect(await terminal.exited).toEqual({ exitCode: 5, signal: null });
    await screen.ended;
    await terminal.close();
  },

  'terminals.resize': async ({ runtime }) => {
    const terminal = await runtime.terminals.open({ argv: ['bash', '--norc'], columns: 101, rows: 33 });
    const screen = watchScreen(terminal);
    terminal.write('stty size\n');
    await eventually(() => screen.text.includes('33 101'), 'the size is the one asked for');
    terminal.resize(77, 22);
    terminal.write('stty size\n');
    await eventually(() => screen.text.includes('22 77'), 'the size follows');
    await terminal.close();
  },

  'terminals.close': async ({ runtime }) => {
    const word = uniqueWord();
    const terminal = await runtime.terminals.open({ argv: ['bash', '-c', `exec -a ${word} sleep 1000`] });
    const ended = collect(terminal.output);
    await eventually(async () => (await countProcesses(runtime, word)) === 1);
    await terminal.close();
    await terminal.close();
    await ended;
    await eventually(async () => (await countProcesses(runtime, word)) === 0, 'what ran on it is gone');
  },

  'env.reaches-shells': async ({ runtime }) => {
    await sh(runtime, 'own=1');
    await runtime.env.set({ GREETING: 'hello', OTHER: 'x' });
    expect(await sh(runtime, 'echo "$GREETING $own"; printenv GREETING')).toBe('hello 1\nhello\n');
    await runtime.env.set({ GREETING: 'changed' });
    expect(await sh(runtime, 'echo $GREETING')).toBe('changed\n');
    expect((await runtime.env.get()).GREETING).toBe('changed');
  },

  'env.reaches-processes': async ({ runtime }) => {
    await runtime.env.set({ GREETING: 'hello' });
    const { id } = await runtime.processes.start(['printenv', 'GREETING']);
    expect((await runtime.processes.wait(id)).stdout).toBe('hello\n');
    expect(await sh(runtime, 'printenv GREETING', { session: 'new' })).toBe('hello\n');
    const terminal = await runtime.terminals.open({ argv: ['printenv', 'GREETING'] });
    expect((await collect(terminal.output)).toString()).toContain('hello');
    await terminal.close();
  },

  'env.unset': async ({ runtime }) => {
    await runtime.env.set({ GREETING: 'hello' });
    await sh(runtime, 'printenv GREETING');
    await runtime.env.unset('GREETING');
    expect(await sh(runtime, 'echo "${GREETING-gone}"')).toBe('gone\n');
    expect(await runtime.env.get()).not.toHaveProperty('GREETING');
    const { id } = await runtime.processes.start(['printenv', 'GREETING']);
    expect((await runtime.processes.wait(id)).exitCode).toBe(1);
  },

  'env.odd-values': async ({ runtime }) => {
    const value = `it's "odd"\n$HOME \`date\` \\ é 🚀 !! \t end `;
    await sh(runtime, 'true');
    await runtime.env.set({ ODD: value });
    await sh(runtime, 'printenv ODD > odd.txt');
    expect((await runtime.read('odd.txt')).content).toBe(`${value}\n`);
    expect((await runtime.env.get()).ODD).toBe(value);
  },

  'env.bad-name': async ({ runtime }) => {
    for (const name of ['1ST', 'A-B', 'A B', '', 'A=B'])
      await refusal(runtime.env.set({ [name]: 'x' }), 'invalid-action');
    await refusal(runtime.env.set({ NUL: 'a\0b' }), 'invalid-action');
  },

  'stats.figures': async ({ runtime }) => {
    await sh(runtime, 'true');
    const before = await runtime.stats();
    const { id } = await runtime.processes.start(['sleep', '1000']);
    const after = await runtime.stats();
    expect(after.processes).toBeGreaterThan(before.processes);
    for (const figure of [after.memoryBytes, after.diskFreeBytes, after.uptimeMs]) {
      expect(figure).toBeGreaterThan(0);
    }
    expect(after.cpuMs).toBeGreaterThanOrEqual(0);
    expect(after.diskUsedBytes).toBeGreaterThanOrEqual(0);
    expect(after.idleMs).toBeLessThan(5000);
    await begin(runtime, 'echo busy; cat', /busy/);
    await runtime.processes.signal(id, 'SIGKILL');
  },

  'events.order': async ({ runtime }) => {
    await runtime.run('echo recorded');
    await runtime.write('file', 'x');
    const events = await eventsSoFar(runtime);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
    expect(events.every((event) => event.runtimeId === runtime.id)).toBe(true);
    const work = events.filter(isWork);
    expect(work).toMatchObject([
      { kind: 'action', source: 'agent', action: { action: 'run', command: 'echo recorded' } },
      {
        kind: 'observation',
        source: 'environment',
        cause: work[0]?.id,
        observation: { output: 'recorded\n' },
      },
      { kind: 'action', action: { action: 'write' } },
      { kind: 'observation', cause: work[2]?.id, observation: { observation: 'write' } },
    ]);
  },

  'events.errors': async ({ runtime }) => {
    await refusal(runtime.read('missing'), 'not-found');
    const events = (await eventsSoFar(runtime)).filter(isWork);
    expect(events).toMatchObject([
      { kind: 'action' },
      { kind: 'error', cause: events[0]?.id, error: { code: 'not-found' } },
    ]);
  },

  'events.live': async ({ runtime }) => {
    const seen: WorkcellEvent[] = [];
    const reader = (async () => {
      for await (const event of runtime.events) seen.push(event);
    })();
    await runtime.write('file', 'x');
    await eventually(() => seen.some(({ kind }) => kind === 'observation'));
    await runtime.close();
    await reader;
    expect(seen.at(-1)).toMatchObject({ kind: 'status', status: { status: 'STOPPED' } });
    expect(seen.map(({ id }) => id)).toEqual(seen.map((_, index) => index + 1));
  },

  'runtime.facts': async ({ runtime, create }) => {
    expect(runtime.id).toMatch(/^[\w-]{8,}$/);
    expect((await create()).id).not.toBe(runtime.id);
    expect(runtime.status).toBe('READY');
    expect(isolationTiers).toContain(runtime.isolation.tier);
    expect(runtime.isolation.facts.length).toBeGreaterThan(0);
    expect(await sh(runtime, 'pwd')).toBe(`${runtime.workspace}\n`);
    expect(runtime.backend.length).toBeGreaterThan(0);
  },

  'runtime.status': async ({ create }) => {
    const seen: string[] = [];
    const runtime = await create({ onStatus: ({ status }) => seen.push(status) });
    expect(seen.filter((status) => status !== 'BUILDING_RUNTIME')).toEqual([
      'STARTING_RUNTIME',
      'RUNTIME_STARTED',
      'READY',
    ]);
    await runtime.close();
    expect(seen.at(-1)).toBe('STOPPED');
    expect(runtime.status).toBe('STOPPED');
  },

  'runtime.execute': async ({ runtime }) => {
    const action = JSON.parse('{"action":"run","command":"printf x"}') as { action: 'run'; command: string };
    const observation = await runtime.execute(action);
    expect(JSON.parse(JSON.stringify(observation))).toEqual(observation);
    expect(observation).toMatchObject({ observation: 'run', output: 'x', exitCode: 0 });
  },

  'runtime.concurrent': async ({ runtime }) => {
    await sh(runtime, 'mkfifo gate');
    const running = runtime.run('read -r word < gate; echo "$word"');
    await runtime.write('meanwhile', 'x');
    expect((await runtime.read('meanwhile')).content).toBe('x');
    const { id } = await runtime.processes.start('echo open > gate');
    expect((await running).output).toBe('open\n');
    await runtime.processes.wait(id);
  },

  'runtime.close-twice': async ({ runtime }) => {
    await sh(runtime, 'true');
    await Promise.all([runtime.close(), runtime.close()]);
    await runtime.close();
    await runtime[Symbol.asyncDispose]();
  },

  'runtime.closed': async ({ runtime }) => {
    await runtime.close();
    const calls: (() => Promise<unknown>)[] = [
      () => runtime.run('true'),
      () => runtime.read('x'),
      () => runtime.write('x', 'y'),
      () => runtime.files.list(),
      () => runtime.files.download('x'),
      () => runtime.files.upload(Buffer.from('x'), 'x'),
      () => runtime.processes.start(['true']),
      () => runtime.terminals.open(),
      () => runtime.env.get(),
      () => runtime.stats(),
      () => runtime.execute({ action: 'list_sessions' }),
    ];
    for (const call of calls) await refusal(call(), 'runtime-closed');
  },

  'runtime.close-ends-all': async ({ runtime, create }) => {
    const word = uniqueWord();
    const doomed = await create();
    const program = await fixture(doomed, 'detach');
    await sh(doomed, `${program} ${word}`);
    await sh(doomed, `bash -c 'exec -a ${word} sleep 1000' &`, { session: 'jobs' });
    await doomed.processes.start(['bash', '-c', `exec -a ${word} sleep 1000`]);
    await eventually(async () => (await countProcesses(doomed, word)) === 3);
    await doomed.close();
    expect(await countProcesses(runtime, word)).toBe(0);
  },

  'runtime.close-settles': async ({ runtime }) => {
    await sh(runtime, 'true');
    let started = false;
    const running = runtime.run('echo started; sleep 1000', {
      onOutput: () => {
        started = true;
      },
    });
    const process = await runtime.processes.start(['sleep', '1000']);
    const waiting = runtime.processes.wait(process.id);
    const outcomes = Promise.allSettled([running, waiting]);
    await eventually(() => started);
    await runtime.close();
    for (const outcome of await outcomes) {
      if (outcome.status === 'fulfilled')
        expect(['killed', 'cancelled', 'lost']).toContain(outcome.value.endedBy);
      else expect(outcome.reason).toMatchObject({ code: 'runtime-closed' });
    }
  },

  'runtime.start-aborted': async ({ create }) => {
    await refusal(create({ signal: AbortSignal.abort() }), 'cancelled');
  },

  'runtime.min-isolation': async ({ runtime, create }) => {
    const { tier } = runtime.isolation;
    const stronger = isolationTiers[isolationTiers.indexOf(tier) + 1];
    if (stronger !== undefined) await refusal(create({ minIsolation: stronger }), 'isolation-too-weak');
    expect((await create({ minIsolation: tier })).status).toBe('READY');
    const facts = factCodes.filter((code) => !isEnforced(runtime.isolation, code));
    await refusal(create({ minIsolation: { tier, facts } }), 'isolation-too-weak');
  },

  'refused.unknown-backend': async () => {
    const options = { backend: 'nowhere' } as unknown as CreateRuntimeOptions;
    expect((await refusal(createRuntime(options), 'backend-unknown')).message).toContain('nowhere');
  },

  'refused.unknown-option': async ({ create }) => {
    const error = await refusal(
      create({ wrokspace: '/tmp' } as Partial<CreateRuntimeOptions>),
      'invalid-config',
    );
    expect(error.message).toContain('wrokspace');
  },
};

/** The first line a process prints, as soon as it is there. */
async function firstLine(runtime: Runtime, id: string): Promise<string> {
  const found = new AbortController();
  let text = '';
  await runtime.processes
    .wait(id, {
      signal: found.signal,
      onOutput: (chunk) => {
        text += chunk.text;
        if (text.includes('\n')) found.abort();
      },
    })
    .catch(() => {});
  return text.split('\n')[0] ?? '';
}

function watchScreen(terminal: Terminal): { text: string; ended: Promise<void> } {
  const screen = { text: '', ended: Promise.resolve() };
  screen.ended = (async () => {
    for await (const chunk of terminal.output) screen.text += Buffer.from(chunk).toString();
  })();
  return screen;
}

/** The events so far; the stream itself would not end. */
async function eventsSoFar(runtime: Runtime): Promise<WorkcellEvent[]> {
  await runtime.close();
  const events: WorkcellEvent[] = [];
  for await (const event of runtime.events) events.push(event);
  return events;
}

/** Actions and their outcomes; with guards there are decisions in between. */
function isWork({ kind }: WorkcellEvent): boolean {
  return kind !== 'status' && kind !== 'decision';
}
