import { expect, test } from 'vitest';
import { gitIn } from '../../../src/runtime/git/git-command.js';
import type { Call } from '../../../src/runtime/verb-call.js';

test('git that is cancelled while its process starts is ended', async () => {
  const cancel = new AbortController();
  let end: (result: object) => void = () => {};
  const ended = new Promise<object>((resolve) => {
    end = resolve;
  });
  const execute = async ({ action }: { action: string }) => {
    if (action === 'wait_process') return ended;
    if (action === 'start_process') cancel.abort();
    else end({ stdout: '', stderr: '', exitCode: null, endedBy: 'killed', truncated: false });
    return { id: 'p1' };
  };
  const git = gitIn({ execute } as unknown as Call, { cwd: '/', env: {} });
  await expect(git(['clone'], { signal: cancel.signal })).rejects.toMatchObject({ code: 'cancelled' });
});
