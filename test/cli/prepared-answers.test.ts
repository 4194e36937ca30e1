/** What the command line answers before it loads anything: the same text as the program prints, at the price of Node alone. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageVersion } from '../../src/base/package-version.js';
import { preparedAnswer } from '../../src/cli/prepared-answers.js';
import { createProgram } from '../../src/cli/program.js';
import { builtFile } from '../built-file.js';
import { startOnTerminal, withDirectory, workcell } from './workcell.js';

/** As the program itself prints it. */
function helpAt(width?: number): string {
  let text = '';
  const writeOut = (part: string) => {
    text += part;
  };
  createProgram()
    .configureOutput({ writeOut, getOutHelpWidth: () => width as number })
    .outputHelp();
  return text;
}

test.each(['--help', '-h'])('%s is the help of the program', async (word) => {
  expect(await workcell([word])).toEqual({ stdout: helpAt(), stderr: '', exitCode: 0 });
});

test('on a wide terminal its lines do not wrap', async () => {
  const { ended } = startOnTerminal(['--help']);
  const { output } = await ended;
  expect(output.replaceAll('\r\n', '\n')).toBe(helpAt(100));
  expect(helpAt(100)).not.toBe(helpAt());
});

test.each(['--version', '-V'])('%s is the version', async (word) => {
  expect(await workcell([word])).toEqual({ stdout: `${packageVersion()}\n`, stderr: '', exitCode: 0 });
});

describe('an answer', () => {
  const prepared = { version: '1.2.3', help: 'a line\nthat wraps\n', wideHelp: 'a line that wraps\n' };
  const answer = (words: string[], columns?: number) => preparedAnswer(words, prepared, columns);

  test('fits the terminal, or there is none', () => {
    expect(answer(['--help'], 80)).toBe(prepared.help);
    expect(answer(['--help'], 17)).toBe(prepared.wideHelp);
    expect(answer(['--help'], 16)).toBeUndefined();
  });

  test('is for these words alone', () => {
    for (const words of [
      [],
      ['help'],
      ['run', '--help'],
      ['--help', 'run'],
      ['--version', '-h'],
      ['--versio'],
    ])
      expect(answer(words)).toBeUndefined();
  });
});

test.each(['--version', '--help'])('%s loads no module and no program', async (word) => {
  await withDirectory(async (directory) => {
    const witness = join(directory, 'witness.cjs');
    const list = join(directory, 'list');
    const bare = join(directory, 'bare.cjs');
    writeFileSync(
      witness,
      `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(list)}, process.moduleLoadList.join()));`,
    );
    writeFileSync(bare, "process.stdout.write('a line');");
    const modulesOf = (...argv: string[]) => {
      const env = { ...process.env, XDG_CACHE_HOME: directory };
      const { status } = spawnSync(process.execPath, ['--require', witness, ...argv], { env });
      expect(status).toBe(0);
      return readFileSync(list, 'utf8').split(',').sort();
    };
    expect(modulesOf(builtFile('cli/main.cjs'), word)).toEqual(modulesOf(bare));
    expect(existsSync(join(directory, 'workcell'))).toBe(false);
  });
});
