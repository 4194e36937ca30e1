import { expect, test } from 'vitest';
import { parseReport } from '../../../../src/cell/launchers/bubblewrap/bash-relay.js';

test('reports of the relay are read, and nothing else is', () => {
  expect(parseReport('ready')).toEqual({ kind: 'ready' });
  expect(parseReport('start 3f 17')).toEqual({ kind: 'start', key: '3f', pid: 17, terminal: undefined });
  expect(parseReport('start 3f 17 /dev/pts/0')).toMatchObject({ terminal: '/dev/pts/0' });
  expect(parseReport('end 3f 17 137')).toEqual({ kind: 'end', key: '3f', pid: 17, status: 137 });
  expect(parseReport('fail 3f no-program')).toEqual({ kind: 'fail', key: '3f', reason: 'no-program' });
  for (const line of ['', 'end', 'end x 1 2', 'start 3f many', 'bwrap: no such thing', 'readyx'])
    expect(parseReport(line), line).toBeUndefined();
});

test('an exit with a code above 128 is told from a signal', () => {
  const exited = (line: string) => parseReport(line);
  expect(exited('[1]+    17 Exit 137                workcell_program')).toMatchObject({
    exited: true,
    pid: 17,
  });
  expect(exited('[1]+    17 Done                    workcell_program')).toMatchObject({ exited: true });
  expect(exited('[1]+    17 Killed                  workcell_program')).toMatchObject({ exited: false });
});
