/** The OpenAPI document, from the schemas that also check requests and answers. */
import * as z from 'zod';
import {
  type ActionTable,
  errorSchema,
  errorTable,
  eventSchema,
  progressSchema,
  protocolVersion,
} from '../../protocol/index.js';
import { infoSchema, readinessSchema, uploadedSchema } from '../../protocol/wire.js';
import { type RouteEntry, routes } from './route-table.js';

export type Json = Record<string, unknown>;

export function openapiDocument(version: string, actions: ActionTable): Json {
  const schemas: Record<string, Json> = {
    Error: jsonSchema(z.object({ error: errorSchema, requestId: z.string().optional() }), 'output'),
    Progress: jsonSchema(progressSchema, 'output'),
    Event: jsonSchema(eventSchema, 'output'),
    Info: jsonSchema(infoSchema, 'output'),
    Readiness: jsonSchema(readinessSchema, 'output'),
    Uploaded: jsonSchema(uploadedSchema, 'output'),
  };
  for (const [name, { input, output, summary }] of Object.entries(actions)) {
    schemas[`action.${name}`] = { description: summary, ...jsonSchema(input, 'input') };
    schemas[`observation.${name}`] = jsonSchema(output, 'output');
  }
  const names = Object.keys(actions);
  schemas.Action = union('action', names);
  schemas.Observation = union('observation', names);
  const description = `Runs actions in one cell. Protocol version ${protocolVersion}.`;
  return describeApi({ title: 'Workcell executor', version, description }, routes, schemas);
}

/** The document of an API whose requests carry a token, from its routes and the schemas that they name. */
export function describeApi(
  info: { readonly title: string; readonly version: string; readonly description: string },
  entries: readonly RouteEntry[],
  schemas: Readonly<Record<string, Json>>,
): Json {
  return {
    openapi: '3.1.0',
    info,
    security: [{ token: [] }],
    paths: paths(entries),
    components: { schemas, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

function paths(routes: readonly RouteEntry[]): Json {
  const result: Record<string, Json> = {};
  for (const { method, path, summary, query = {}, body, answers, open } of routes) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    const entry = result[path] ?? {};
    result[path] = entry;
    entry[method] = {
      summary,
      ...(open && { security: [] }),
      parameters: [
        ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
        ...Object.entries(query).map(([name, description]) => ({
          name,
          in: description.startsWith('header:') ? 'header' : 'query',
          description: description.replace(/^header:\s*/, ''),
          schema: { type: 'string' },
        })),
      ],
      ...(body !== undefined && { requestBody: { required: true, content: content(body) } }),
      responses: {
        ...Object.fromEntries(
          Object.entries(answers).map(([status, { description, types }]) => [
            status,
            { description, ...(types !== undefined && { content: content(types) }) },
          ]),
        ),
        default: {
          description: `An error: ${Object.keys(errorTable).join(', ')}.`,
          content: content({ 'application/json': 'Error' }),
        },
      },
    };
  }
  return result;
}

/** Media types with the schema of each; an empty name means bytes. */
function content(types: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(
    Object.entries(types).map(([type, name]) => [
      type,
      {
        schema: name === '' ? { type: 'string', format: 'binary' } : { $ref: `#/components/schemas/${name}` },
      },
    ]),
  );
}

function union(kind: 'action' | 'observation', names: readonly string[]): Json {
  const reference = (name: string) => `#/components/schemas/${kind}.${name}`;
  return {
    oneOf: names.map((name) => ({ $ref: reference(name) })),
    discriminator: {
      propertyName: kind,
      mapping: Object.fromEntries(names.map((name) => [name, reference(name)])),
    },
  };
}

export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json;
  return rest;
}
