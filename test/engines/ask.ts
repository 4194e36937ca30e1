/** Asks the process that runs the tests for one of its engines. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';

/** Waits until the engine has started. */
export async function askForEngine<Engine extends object>(name: 'docker' | 'kubernetes'): Promise<Engine> {
  const socket = connect(inject('engines'));
  const answer = JSON.parse(await text(socket.end(name))) as Engine | { error: string };
  if ('error' in answer) throw new Error(answer.error);
  return answer;
}
