/** The OpenAPI document of the service, from the schemas that also check requests. */
import * as z from 'zod';
import { packageVersion } from '../base/package-version.js';
import { describeApi, type Json, jsonSchema } from '../cell/server/openapi.js';
import type { RouteEntry } from '../cell/server/route-table.js';
import {
  cellDiffSchema,
  checkpointCellSchema,
  checkpointPageSchema,
  forkCellSchema,
  forkedCellsSchema,
  rewindCellSchema,
  rewoundCellSchema,
  serviceCheckpointSchema,
} from '../protocol/checkpoint-wire.js';
import { errorSchema } from '../protocol/index.js';
import { answerSchema } from '../protocol/record-wire.js';
import {
  cellNewsSchema,
  cellPageSchema,
  changeCellSchema,
  createCellSchema,
  createKeySchema,
  createPreviewSchema,
  keyPageSchema,
  newKeySchema,
  previewSchema,
  serviceCellSchema,
  serviceStatusSchema,
  serviceTemplateSchema,
  usageSchema,
} from '../protocol/service-wire.js';

export function serviceOpenapi(): Json {
  const description =
    'Cells for many programs and people. Below /v1/cells/{cell} stands the API of the executor in that cell, which /v1/cells/{cell}/openapi.json describes.';
  return describeApi({ title: 'Workcell service', version: packageVersion(), description }, routes, {
    Error: jsonSchema(z.object({ error: errorSchema, requestId: z.string().optional() }), 'output'),
    CreateCell: jsonSchema(createCellSchema, 'input'),
    ChangeCell: jsonSchema(changeCellSchema, 'input'),
    Cell: jsonSchema(serviceCellSchema, 'output'),
    CellPage: jsonSchema(cellPageSchema, 'output'),
    CellNews: jsonSchema(cellNewsSchema, 'output'),
    CreateKey: jsonSchema(createKeySchema, 'input'),
    NewKey: jsonSchema(newKeySchema, 'output'),
    KeyPage: jsonSchema(keyPageSchema, 'output'),
    CreatePreview: jsonSchema(createPreviewSchema, 'input'),
    Preview: jsonSchema(previewSchema, 'output'),
    CheckpointCell: jsonSchema(checkpointCellSchema, 'input'),
    Checkpoint: jsonSchema(serviceCheckpointSchema, 'output'),
    CheckpointPage: jsonSchema(checkpointPageSchema, 'output'),
    RewindCell: jsonSchema(rewindCellSchema, 'input'),
    RewoundCell: jsonSchema(rewoundCellSchema, 'output'),
    CellDiff: jsonSchema(cellDiffSchema, 'output'),
    ForkCell: jsonSchema(forkCellSchema, 'input'),
    ForkedCells: jsonSchema(forkedCellsSchema, 'output'),
    Answer: jsonSchema(answerSchema, 'input'),
    Status: jsonSchema(serviceStatusSchema, 'output'),
    Usage: jsonSchema(usageSchema.array(), 'output'),
    Templates: jsonSchema(serviceTemplateSchema.array(), 'output'),
  });
}

const json = (name: string) => ({ 'application/json': name });
const cell = { 200: { description: 'The cell.', types: json('Cell') } };
const gone = { 204: { description: 'It is gone.' } };
const text = (description: string) => ({ 200: { description, types: { 'text/plain': '' } } });

const routes: readonly RouteEntry[] = [
  {
    method: 'post',
    path: '/v1/cells',
    summary: 'Makes a cell, or answers with the one that has this name.',
    query: {
      'Idempotency-Key': 'header: Names the request. Repeated with the same key it makes no second cell',
    },
    body: json('CreateCell'),
    answers: { 200: { description: 'It is there already.', types: json('Cell') }, 201: cell[200] },
  },
  {
    method: 'get',
    path: '/v1/cells',
    summary: 'Lists cells, page by page.',
    query: {
      label: 'name=value; with several, all must hold',
      state: 'starting, running, paused or lost',
      tenant: 'for operators: whose',
      limit: 'most cells of a page, up to 1000',
      cursor: '`next` of the page before',
    },
    answers: { 200: { description: 'A page.', types: json('CellPage') } },
  },
  {
    method: 'get',
    path: '/v1/cells/watch',
    summary: 'Gives all cells, then each change as it comes.',
    query: { label: 'name=value; with several, all must hold', tenant: 'for operators: whose' },
    answers: {
      200: { description: 'A line of JSON for each.', types: { 'application/x-ndjson': 'CellNews' } },
    },
  },
  {
    method: 'get',
    path: '/v1/cells/{cell}',
    summary: 'Tells of a cell, by id or name.',
    query: {
      wait: 'answers once the cell is starting, running, paused or lost',
      timeoutMs: 'how long to wait, up to 600000; default 30000',
    },
    answers: cell,
  },
  {
    method: 'patch',
    path: '/v1/cells/{cell}',
    summary: 'Changes labels and limits.',
    body: json('ChangeCell'),
    answers: cell,
  },
  { method: 'delete', path: '/v1/cells/{cell}', summary: 'Ends a cell.', answers: gone },
  {
    method: 'get',
    path: '/v1/cells/{cell}/hold',
    summary: 'Counts as use of the cell while the answer is open.',
    answers: text('Empty lines, until you close it.'),
  },
  {
    method: 'post',
    path: '/v1/cells/{cell}/pause',
    summary: 'Pauses a cell until somebody resumes or uses it.',
    answers: cell,
  },
  { method: 'post', path: '/v1/cells/{cell}/resume', summary: 'Resumes a cell.', answers: cell },
  {
    method: 'post',
    path: '/v1/cells/{cell}/previews',
    summary: 'Makes a link to a port of the cell, which holds for a while.',
    body: json('CreatePreview'),
    answers: { 201: { description: 'The link.', types: json('Preview') } },
  },
  {
    method: 'post',
    path: '/v1/cells/{cell}/checkpoints',
    summary: 'Keeps the files of the workspace as they are now, beyond the end of the cell.',
    body: json('CheckpointCell'),
    answers: { 201: { description: 'The checkpoint.', types: json('Checkpoint') } },
  },
  {
    method: 'post',
    path: '/v1/cells/{cell}/rewind',
    summary: 'Puts the files of the workspace back to a checkpoint, and keeps the present ones as another.',
    body: json('RewindCell'),
    answers: { 200: { description: 'What it changed.', types: json('RewoundCell') } },
  },
  {
    method: 'post',
    path: '/v1/cells/{cell}/fork',
    summary:
      'Starts cells of the same template with the files of this one, or of a checkpoint. All of them, or none.',
    body: json('ForkCell'),
    answers: { 201: { description: 'The cells.', types: json('ForkedCells') } },
  },
  {
    method: 'get',
    path: '/v1/cells/{cell}/diff',
    summary: 'Compares a checkpoint with another one, or with the cell as it is now.',
    query: { before: 'id of a checkpoint', after: 'id of another one; default: the cell as it is now' },
    answers: { 200: { description: 'What differs.', types: json('CellDiff') } },
  },
  {
    method: 'get',
    path: '/v1/checkpoints',
    summary: 'Lists the checkpoints of the tenant page by page, the oldest first.',
    query: {
      cell: 'those of this cell only, by its id',
      limit: 'most checkpoints of a page, up to 1000',
      cursor: '`next` of the page before',
    },
    answers: { 200: { description: 'A page.', types: json('CheckpointPage') } },
  },
  {
    method: 'get',
    path: '/v1/checkpoints/{checkpoint}',
    summary: 'Tells of a checkpoint.',
    answers: { 200: { description: 'The checkpoint.', types: json('Checkpoint') } },
  },
  {
    method: 'delete',
    path: '/v1/checkpoints/{checkpoint}',
    summary: 'Removes a checkpoint. Cells that began with it keep their files.',
    answers: gone,
  },
  {
    method: 'get',
    path: '/v1/templates',
    summary: 'Lists the templates.',
    answers: { 200: { description: 'All of them.', types: json('Templates') } },
  },
  {
    method: 'post',
    path: '/v1/keys',
    summary: 'Makes a key that may do no more than the one that asks.',
    body: json('CreateKey'),
    answers: { 201: { description: 'The key, which is shown once.', types: json('NewKey') } },
  },
  {
    method: 'get',
    path: '/v1/keys',
    summary: 'Lists the keys of the tenant page by page, without what makes them keys.',
    query: { limit: 'most keys of a page, up to 1000', cursor: '`next` of the page before' },
    answers: { 200: { description: 'A page.', types: json('KeyPage') } },
  },
  {
    method: 'delete',
    path: '/v1/keys/{key}',
    summary: 'Removes a key and ends what it has open.',
    answers: gone,
  },
  {
    method: 'get',
    path: '/v1/records',
    summary: 'Lists the records of the cells that you may see, page by page, those that began last first.',
    query: { limit: 'most records of a page, up to 1000', cursor: '`next` of the page before' },
    answers: { 200: { description: 'A page: `records` and, where there are more, `next`.' } },
  },
  {
    method: 'get',
    path: '/v1/records/{id}',
    summary: 'Reads the events of a record, page by page.',
    query: {
      after: 'id of the last event before the page',
      limit: 'most events of a page',
      kind: 'events of this kind only',
      brief: '1 leaves long values out',
    },
    answers: { 200: { description: 'A page.' } },
  },
  {
    method: 'get',
    path: '/v1/records/{id}/follow',
    summary: 'Gives the events of a record as they come.',
    query: {
      after: 'id of the last event that you have',
      brief: '1 leaves long values out',
      output: '1 adds what running commands print, as lines of the kind "output"',
    },
    answers: {
      200: { description: 'A line of JSON for each event.', types: { 'application/x-ndjson': '' } },
    },
  },
  {
    method: 'get',
    path: '/v1/activity',
    summary: 'Tells what each of your cells did last.',
    query: { use: '1 adds what each running cell uses', cell: 'this cell only' },
    answers: { 200: { description: 'One entry for each cell that did something.' } },
  },
  {
    method: 'get',
    path: '/v1/console',
    summary: 'Tells a page what your key can do here.',
    answers: { 200: { description: 'Your role and tenant, and whether there are cells to work with.' } },
  },
  {
    method: 'get',
    path: '/v1/questions',
    summary: 'Lists the actions, and hosts that cells want to reach, that wait for a person.',
    answers: { 200: { description: 'Those that still wait.' } },
  },
  {
    method: 'post',
    path: '/v1/questions/{id}',
    summary: 'Answers a question.',
    body: json('Answer'),
    answers: { 204: { description: 'The action goes on, or is refused.' } },
  },
  {
    method: 'get',
    path: '/metrics',
    summary: 'Figures for Prometheus.',
    answers: text('Text of Prometheus.'),
  },
  {
    method: 'get',
    path: '/v1/status',
    summary: 'Tells the operator how the service does.',
    answers: { 200: { description: 'The status.', types: json('Status') } },
  },
  {
    method: 'get',
    path: '/v1/usage',
    summary: 'Tells what tenants used, day by day.',
    query: {
      from: 'first day, YYYY-MM-DD in UTC',
      to: 'last day',
      tenant: 'for operators: whose',
      format: 'json or csv',
    },
    answers: { 200: { description: 'A row for each day.', types: { ...json('Usage'), 'text/csv': '' } } },
  },
  {
    method: 'get',
    path: '/healthz',
    summary: 'Answers while the process does.',
    answers: { 200: { description: 'It is alive.' } },
    open: true,
  },
  {
    method: 'get',
    path: '/readyz',
    summary: 'Answers whether requests are served.',
    answers: { 200: { description: 'It is ready.' }, 503: { description: 'Its store cannot be read.' } },
    open: true,
  },
  {
    method: 'get',
    path: '/openapi.json',
    summary: 'This document.',
    answers: { 200: { description: 'OpenAPI 3.1.' } },
    open: true,
  },
];
