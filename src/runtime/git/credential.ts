/** Hands a token to one git command. It is in no address, argument, variable, file or event. */

import { transferVariables } from '../../base/git-settings.js';
import { WorkcellError } from '../../protocol/index.js';
import type { Call } from '../verb-call.js';
import { fields, fromOutside, type Git, gitIn, inspect, lines } from './git-command.js';
import { tokenServer } from './remote-url.js';

/** A secret of the runtime, and the user name that goes with it. */
export interface TokenOptions {
  /** Name of a secret given to `createRuntime`, whose `hosts` name the server. */
  readonly token?: string | undefined;
  /** Default: the one that well-known servers expect. */
  readonly username?: string | undefined;
}

/** The secret comes through standard input, which the helper has as descriptor 3 and can read once. */
const aside = ['/bin/sh', '-c', 'exec 3<&0 </dev/null; exec "$@"', 'git'];
const helper = '!f() { test "$1" = get && cat <&3; }; f';

export function transferWithToken(
  call: Call,
  cwd: string,
  {
    url,
    token,
    username,
    signal,
  }: TokenOptions & { url: string; token: string; signal?: AbortSignal | undefined },
): Git {
  const server = tokenServer(url);
  const origin = `${server.protocol}//${server.host}`;
  const { startWithSecret } = call;
  if (startWithSecret === undefined)
    throw new WorkcellError(
      'capability-unsupported',
      'This runtime has no secrets, so it has no token; give secrets to createRuntime.',
    );
  const git = gitIn(call, {
    cwd,
    prefix: [...aside, ...fromOutside()],
    env: transferVariables(server.protocol.slice(0, -1), [[`credential.${origin}.helper`, helper]]),
    start: (action) =>
      startWithSecret(action, {
        name: token,
        host: server.host,
        stdin: (secret) => answer(server, secret, username),
      }),
  });
  return (args, options) => git(args, { signal, ...options });
}

/** Settings in a repository that would let others read the token. */
const leaking = /^http\.(.+\.)?(ssl|proxy|curlopt|schannel)|^remote\..+\.proxy/i;

/** The only address of a remote that may get a token. */
export async function remoteUrl(
  call: Call,
  cwd: string,
  remote: string,
  { push = false } = {},
): Promise<string> {
  const git = await inspect(call, cwd);
  const names = await fields(git, ['config', '--null', '--name-only', '--list']);
  const bad = names.find((name) => leaking.test(name));
  if (bad !== undefined)
    throw new WorkcellError(
      'denied',
      `The repository sets ${bad}, which could lead a token elsewhere; remove that setting or use no token.`,
      { details: { setting: bad } },
    );
  const urls = await lines(git, ['remote', 'get-url', '--all', ...(push ? ['--push'] : []), '--', remote]);
  if (urls.length !== 1)
    throw new WorkcellError(
      'denied',
      `The remote ${remote} has ${urls.length} addresses; a token goes to one only.`,
    );
  return urls[0] ?? '';
}

function answer(server: URL, secret: string, given: string | undefined): string {
  const own = given ?? decodeURIComponent(server.username);
  const [name, password] =
    own === '' && isBitbucket(server) && secret.includes(':')
      ? [secret.slice(0, secret.indexOf(':')), secret.slice(secret.indexOf(':') + 1)]
      : [own === '' ? usernameFor(server) : own, secret];
  if (/[\r\n\0]/.test(`${name}${password}`))
    throw new WorkcellError('invalid-action', 'A token or its username must not contain a line break.');
  return `username=${name}\npassword=${password}\n`;
}

function usernameFor(server: URL): string {
  if (/(^|\.)gitlab\./.test(server.hostname)) return 'oauth2';
  return isBitbucket(server) ? 'x-token-auth' : 'x-access-token';
}

function isBitbucket({ hostname }: URL): boolean {
  return /(^|\.)bitbucket\./.test(hostname);
}
