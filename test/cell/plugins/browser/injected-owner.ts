/** Drives a browser whose pipe a program of the cell writes to. Prints what came of each action after that. */
import { createRuntime } from '../../../../src/index.js';

/** Writes to the end of the pipe that Chromium answers on, which any process of its user can open. */
const inject = (message: string) => `
for pid in $(pgrep -f remote-debugging-pipe); do
  [ -e /proc/$pid/fd/4 ] && printf '%s\\0' '${message}' >/proc/$pid/fd/4 && break
done`;

const hostile = [
  '{"id":123456789,"result":{}}',
  '{"id":123456789,"error":{"code":-1,"message":"none"}}',
  '{"id":2000000000,"result":{}}',
  '{"id":"text","result":null}',
  '{"method":"Target.attachedToTarget","params":{}}',
  '{"method":"Target.attachedToTarget","params":{"sessionId":"x","targetInfo":{"type":"page","targetId":"y","browserContextId":"z"}}}',
  '{"method":"Target.targetCreated"}',
  '{"method":"Target.detachedFromTarget","params":{"sessionId":"x"}}',
  '{"method":"Browser.downloadWillBegin","params":{"frameId":7}}',
  '{"method":"Browser.downloadProgress","params":null}',
  '{"method":"Fetch.requestPaused","params":{}}',
  '{"method":7,"params":7,"sessionId":7}',
  'null',
  '[]',
  'no message',
];

const runtime = await createRuntime({ config: false, backend: 'cli' });
for (const message of hostile) {
  await runtime.browse('about:blank');
  await runtime.run(inject(message));
  // The first one may meet a browser that is about to end; the next one has a new one.
  await runtime.browse('about:blank').catch(() => {});
  const { error } = await runtime.browse('data:text/html,<title>well</title>');
  console.log(JSON.stringify({ message, error }));
}
await runtime.close();
console.log('alive');
