/**
 * What a runtime does that is no action of an executor: byte streams, terminals, ports, and verbs of several steps.
 * Declared like actions, so that the same code judges and records them.
 */
import * as z from 'zod';
import { type ActionTable, defineAction } from './action.js';
import { environmentSchema, pathSchema } from './actions/common.js';

const formatSchema = z.enum(['tar', 'zip']).optional();

/** Verbs of the runtime that are not actions of the wire, with the kinds of their fields. */
export const verbs = {
  upload: defineAction('upload', {
    summary: 'Takes bytes into the cell: as one file, or as an archive that is unpacked.',
    get input() {
      return {
        path: pathSchema,
        format: formatSchema,
        mode: z.int().optional(),
        /** The paths in an archive, as written in it. */
        members: z.array(z.string()).optional(),
        /** Hash of the bytes, so that exactly the approved ones are unpacked. */
        sha256: z.string().optional(),
      };
    },
    kinds: {
      path: 'path-write',
      format: 'plain',
      members: { kind: 'members', below: 'path' },
      sha256: 'plain',
    },
    output: {},
  }),
  download: defineAction('download', {
    summary: 'Gives the bytes of a file, or of a directory as an archive.',
    readOnly: true,
    get input() {
      return {
        path: pathSchema,
        format: formatSchema,
        /** First and last byte of a part of a file. */
        start: z.int().optional(),
        end: z.int().optional(),
      };
    },
    kinds: { path: 'path-read', format: 'plain' },
    output: {},
  }),
  open_terminal: defineAction('open_terminal', {
    summary: 'Opens a terminal with a program in it; default is the shell of the cell.',
    startsProcess: true,
    opensSession: true,
    get input() {
      return {
        argv: z.array(z.string()).min(1).optional(),
        cwd: pathSchema.optional(),
        env: environmentSchema.optional(),
        columns: z.int().optional(),
        rows: z.int().optional(),
      };
    },
    kinds: { argv: 'argv', cwd: 'path-cwd', env: 'environment' },
    output: {},
  }),
  open_port: defineAction('open_port', {
    summary: 'Opens a connection to a port of the cell.',
    input: { port: z.int() },
    kinds: {},
    output: {},
  }),
  git: defineAction('git', {
    summary: 'Runs git for a verb of `runtime.git`, without what the repository would have it start.',
    startsProcess: true,
    input: { argv: z.array(z.string()).min(1), cwd: pathSchema },
    kinds: { argv: 'argv', cwd: 'path-cwd' },
    output: {},
  }),
  set_up_repository: defineAction('set_up_repository', {
    summary: 'Runs the setup script that a repository brings with it, and installs its check before commits.',
    startsProcess: true,
    input: { cwd: pathSchema },
    kinds: { cwd: 'path-cwd' },
    output: {},
  }),
  run_python_file: defineAction('run_python_file', {
    summary: 'Runs a Python script of the owner in the cell, and leaves nothing of it there.',
    startsProcess: true,
    get input() {
      return {
        name: z.string(),
        code: z.string(),
        args: z.array(z.string()),
        cwd: pathSchema.optional(),
        env: environmentSchema.optional(),
      };
    },
    kinds: {
      name: 'plain',
      code: { kind: 'code', language: 'python' },
      args: 'plain',
      cwd: 'path-cwd',
      env: 'environment',
    },
    output: {},
  }),
} as const satisfies ActionTable;
