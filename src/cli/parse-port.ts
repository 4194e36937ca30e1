/** A port as somebody typed it. `form` is what the command takes. */
export async function parsePort(word: string, form = '8000'): Promise<number> {
  const port = /^\d{1,5}$/.test(word) ? Number(word) : 0;
  if (port >= 1 && port <= 65_535) return port;
  const { WorkcellError } = await import('../protocol/errors.js');
  throw new WorkcellError('invalid-action', `${JSON.stringify(word)} is no port. Give ${form}.`);
}
