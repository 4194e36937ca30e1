import { Command } from 'commander';
import { expect, test } from 'vitest';
import { type CellOptions, gpuGiven, withCellOptions } from '../../src/cli/cell-options.js';
import { workcell } from './workcell.js';

function parse(words: string[]): { gpu: unknown; rest: string[] } {
  const command = withCellOptions(new Command('run'))
    .argument('[words...]')
    .passThroughOptions()
    .exitOverride()
    .configureOutput({ writeErr() {} });
  command.parse(words, { from: 'user' });
  return { gpu: gpuGiven(command.opts<CellOptions>()), rest: command.args };
}

test.each([
  [['nvidia-smi', '-L'], undefined],
  [['--gpu', 'nvidia-smi', '-L'], true],
  [['--gpu-count', '2', 'nvidia-smi', '-L'], 2],
  [
    ['--gpu-id', '0', '--gpu-id', 'GPU-1', 'nvidia-smi', '-L'],
    ['0', 'GPU-1'],
  ],
])('%j leaves the command as it is', (words, gpu) => {
  expect(parse(words)).toEqual({ gpu, rest: ['nvidia-smi', '-L'] });
});

test.each([
  [['--gpu', '--gpu-count', '1']],
  [['--gpu-count', '1', '--gpu-id', '0']],
  [['--gpu', '--gpu-id', '0']],
])('%j say two things and are refused', (words) => {
  expect(() => parse(words)).toThrow('cannot be used with');
});

test('a backend that has no GPU to give refuses, by name', async () => {
  const { stderr, stdout, exitCode } = await workcell(['run', '--backend', 'cli', '--gpu', 'echo', 'ran']);
  expect(stderr).toContain('"gpu"');
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 78 });
});
