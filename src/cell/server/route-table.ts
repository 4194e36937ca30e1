/** Every route of the native API with what it takes and answers, for the OpenAPI document and the page. */
export interface RouteEntry {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
  readonly summary: string;
  /** Parameters by name; `header:` marks those that are headers. */
  readonly query?: Readonly<Record<string, string>>;
  /** Media types with the name of the schema of each; an empty name means bytes. */
  readonly body?: Readonly<Record<string, string>>;
  readonly answers: Readonly<
    Record<number, { description: string; types?: Readonly<Record<string, string>> }>
  >;
  /** Answers without a token. */
  readonly open?: boolean;
}

const observation = {
  200: {
    description:
      'The observation; or, with "Accept: application/x-ndjson", lines {"progress":…} and at last {"observation":…} or {"error":…}. Empty lines mean nothing.',
    types: { 'application/json': 'Observation', 'application/x-ndjson': 'Progress' },
  },
};
const format = 'tar or zip: the bytes are an archive of what is at the path';
const from = 'Byte position in the lines to go on from, for a client that lost its connection';

export const routes: readonly RouteEntry[] = [
  {
    method: 'post',
    path: '/v1/actions',
    summary: 'Runs an action.',
    query: {
      'Idempotency-Key': 'header: Names the request. Repeated with the same key it does not run again',
      'Workcell-Instance':
        'header: The start of the server, from an earlier answer: another one, which knows no keys of before, refuses',
      'Workcell-Client': 'header: Names the client, where several share the server',
      from,
      progress: '0 leaves progress out of the lines',
    },
    body: { 'application/json': 'Action' },
    answers: observation,
  },
  {
    method: 'get',
    path: '/v1/actions/{key}',
    summary: 'Continues the answer to an action that runs or has ended.',
    query: { from },
    answers: observation,
  },
  {
    method: 'delete',
    path: '/v1/actions/{key}',
    summary: 'Cancels an action; one that has not come yet fails when it does.',
    answers: { 204: { description: 'It is being ended.' } },
  },
  {
    method: 'delete',
    path: '/v1/clients/{client}',
    summary: 'Ends all that requests with the header "Workcell-Client: {client}" started, and nothing else.',
    answers: { 204: { description: 'It is gone.' } },
  },
  {
    method: 'get',
    path: '/v1/files',
    summary: 'Downloads a file, or a directory as an archive.',
    query: {
      path: 'File or directory',
      format,
      start: 'First byte',
      end: 'Last byte',
      Range: 'header: As in HTTP',
      'If-Range': 'header: The ETag of an answer: the range is given only while the file is still the same',
      'If-Match': 'header: The ETag of an answer: anything is given only while the file is still the same',
    },
    answers: {
      200: { description: 'The whole.', types: { '*/*': '' } },
      206: { description: 'The range.', types: { '*/*': '' } },
      412: { description: 'The file was changed.', types: { 'application/json': 'Error' } },
      416: { description: 'The file has no byte of the range.', types: { 'application/json': 'Error' } },
    },
  },
  {
    method: 'put',
    path: '/v1/files',
    summary: 'Uploads a file, or unpacks an archive below a path.',
    query: { path: 'File or directory', format, mode: 'Permission bits in octal' },
    body: { '*/*': '' },
    answers: { 200: { description: 'What was written.', types: { 'application/json': 'Uploaded' } } },
  },
  {
    method: 'get',
    path: '/v1/terminals',
    summary:
      'WebSocket with a terminal. The client first sends {"type":"open",…}; binary frames are input and output, text frames {"type":"resize"}, {"type":"close"} and {"type":"exit"}.',
    answers: { 101: { description: 'The terminal.' } },
  },
  {
    method: 'get',
    path: '/v1/ports/{port}',
    summary: 'WebSocket with a connection to a port inside the cell; binary frames are its bytes.',
    answers: { 101: { description: 'The connection.' } },
  },
  {
    method: 'get',
    path: '/v1/events',
    summary:
      'What goes through this server, as server-sent events, or as text frames of a WebSocket. Where some were dropped, or the cursor is of another start of the server, there is a gap.',
    query: {
      since:
        'Cursor: the id of the last event seen; with "<instance>:" before it, it holds for that start only',
      'Last-Event-ID': 'header: The same, from a browser',
    },
    answers: { 200: { description: 'Events as they come.', types: { 'text/event-stream': 'Event' } } },
  },
  {
    method: 'post',
    path: '/v1/close',
    summary: 'Ends every shell, process and terminal.',
    answers: { 204: { description: 'All are gone.' } },
  },
  {
    method: 'get',
    path: '/v1/info',
    summary: 'Version, workspace and isolation of the cell.',
    answers: { 200: { description: 'What this server is.', types: { 'application/json': 'Info' } } },
  },
  {
    method: 'get',
    path: '/v1/stats',
    summary: 'Figures of the cell and of the server.',
    answers: { 200: { description: 'Figures.' } },
  },
  {
    method: 'get',
    path: '/metrics',
    summary: 'The same figures for Prometheus.',
    answers: { 200: { description: 'Figures.' } },
  },
  {
    method: 'get',
    path: '/alive',
    summary: 'Says that the process is up.',
    open: true,
    answers: { 200: { description: 'It is.' } },
  },
  {
    method: 'get',
    path: '/ready',
    summary: 'Says whether each capability works, and why not.',
    answers: {
      200: { description: 'All work.', types: { 'application/json': 'Readiness' } },
      503: { description: 'Some do not.', types: { 'application/json': 'Readiness' } },
    },
  },
  {
    method: 'get',
    path: '/openapi.json',
    summary: 'This description as OpenAPI.',
    answers: { 200: { description: 'The document.' } },
  },
  {
    method: 'get',
    path: '/docs',
    summary: 'This description as a page.',
    answers: { 200: { description: 'The page.' } },
  },
];
