/** What programs get and say in a cell that has no network. */

/** What resolvers, and the tools that people use, say when nothing answers. */
const complaint =
  /EAI_AGAIN|ENOTFOUND|ENETUNREACH|Could not resolve host|Temporary failure (?:in name resolution|resolving)|Name or service not known|Network is unreachable|Failed to resolve|no such host/;

/** Without a network every attempt fails, and npm alone waits 70 seconds before it says so. */
export const noRetries: Readonly<Record<string, string>> = {
  npm_config_fetch_retries: '0',
  PIP_RETRIES: '0',
};

interface Reported {
  readonly facts: readonly { readonly code: string; readonly values: object }[];
}

/** A sentence about it, or undefined where the cell has a network or the output tells of something else. */
export function noNetworkHint(isolation: Reported, output: string): string | undefined {
  const isAlone = isolation.facts.some(
    ({ code, values }) => code === 'network' && 'kind' in values && values.kind === 'none',
  );
  return isAlone && complaint.test(output)
    ? 'this cell has no network, so nothing can be downloaded in it'
    : undefined;
}
