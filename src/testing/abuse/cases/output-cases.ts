/** Output that floods, breaks decoders or controls the terminal of its reader. */
import type { Runtime } from '../../../index.js';
import { type AbuseCase, demand } from '../case.js';
import { permitted, run, stillWorks } from '../inside.js';

const mebibyte = 1024 * 1024;

/** How much this process may grow while it takes a flood. */
const growthBytes = 200 * mebibyte;

/** Takes a flood on pipes and demands that this process stays flat and the answer small. */
async function flood(runtime: Runtime, command: string, limitBytes: number): Promise<string> {
  const before = process.memoryUsage().rss;
  const { id } = await runtime.processes.start(command, { outputLimitBytes: limitBytes, timeoutMs: 60_000 });
  const { stdout, stderr, endedBy, truncated } = await runtime.processes.wait(id, {
    maxOutputBytes: mebibyte,
  });
  const grown = Math.round((process.memoryUsage().rss - before) / mebibyte);
  demand(
    stdout.length + stderr.length <= 3 * mebibyte,
    `the answer has ${stdout.length + stderr.length} characters`,
  );
  demand(grown * mebibyte < growthBytes, `this process grew by ${grown} MiB`);
  demand(truncated, 'the answer does not say that it is cut');
  return `ended by ${endedBy}, cut to ${Math.round((stdout.length + stderr.length) / 1024)} KiB`;
}

export const outputCases: readonly AbuseCase[] = [
  {
    id: '7.endless-stdout',
    title: 'standard output without end, at the speed of a pipe',
    expected: 'bounded',
    attack: (runtime) => flood(runtime, 'yes', 512 * mebibyte),
    neighbour: stillWorks,
  },
  {
    id: '7.endless-both',
    title: 'standard output and standard error without end, interleaved',
    expected: 'bounded',
    attack: (runtime) => flood(runtime, 'yes out & yes err >&2', 256 * mebibyte),
    neighbour: stillWorks,
  },
  {
    id: '7.endless-terminal',
    title: 'a terminal flooded without end',
    expected: 'bounded',
    async attack(runtime) {
      const before = process.memoryUsage().rss;
      const { endedBy, output } = await run(runtime, 'yes', { timeoutMs: 3000 });
      const grown = Math.round((process.memoryUsage().rss - before) / mebibyte);
      demand(endedBy === 'timeout', `it ended by ${endedBy}`);
      demand(output.length <= 70_000, `the answer has ${output.length} characters`);
      demand(grown * mebibyte < growthBytes, `this process grew by ${grown} MiB`);
      return `ended by its timeout, cut to ${Math.round(output.length / 1024)} KiB`;
    },
    neighbour: stillWorks,
  },
  {
    id: '8.one-line',
    title: 'a single line of 1 GiB',
    expected: 'bounded',
    attack: (runtime) => flood(runtime, "head -c 1G /dev/zero | tr '\\0' x", 2048 * mebibyte),
    neighbour: stillWorks,
  },
  {
    id: '8.nul-bytes',
    title: '100 MiB of NUL bytes',
    expected: 'bounded',
    attack: (runtime) => flood(runtime, 'head -c 100M /dev/zero', 2048 * mebibyte),
    neighbour: stillWorks,
  },
  {
    id: '8.invalid-utf8',
    title: 'invalid UTF-8, and characters split across pieces',
    expected: 'bounded',
    async attack(runtime) {
      const command =
        "printf '\\303'; sleep 0.1; printf '\\251 \\377\\376 \\342\\202'; sleep 0.1; printf '\\254 end\\n'";
      const { output } = await run(runtime, command);
      demand(/^\u00e9 \ufffd+ \u20ac end\n$/.test(output), `it came out as ${JSON.stringify(output)}`);
      return 'whole characters are joined, broken ones marked';
    },
    neighbour: stillWorks,
  },
  {
    id: '58.escape-sequences',
    title: 'sequences that set the title or the clipboard, make links, answer or end a paste',
    expected: 'nothing-leaks',
    async attack(runtime) {
      const sequences = [
        '\\e]0;title\\a',
        '\\e]52;c;cHduZWQ=\\a',
        '\\e]8;;http://x/\\e\\\\link\\e]8;;\\e\\\\',
        '\\e[201~',
        '\\e[6n',
        '\\e[?1049h',
        '\\eP+q\\e\\\\',
        '\\e]50;x\\a',
        '\\x9b5n',
        '\\ec',
      ];
      const { output } = await run(runtime, `printf '${sequences.join('')}visible\\n'`);
      const controls = [...output].filter((character) => /[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(character));
      demand(controls.length === 0, `control characters came out: ${JSON.stringify(controls.join(''))}`);
      demand(output.includes('visible'), `the text is lost: ${JSON.stringify(output)}`);
      demand(!output.includes('cHduZWQ='), 'what was meant for the clipboard came out as text');
      return `${sequences.length} sequences, none came out`;
    },
    async neighbour(runtime) {
      const output = await permitted(runtime, "printf 'plain é €\\n'; printf '\\e[31mred\\e[0m\\n'");
      if (output !== 'plain é €\nred\n') throw new Error(`Plain text came out as ${JSON.stringify(output)}.`);
    },
  },
];
