/** Tools in the cell: install a module once, and call its functions as often as you like. */
import * as z from 'zod';
import { timeoutSchema } from '../../../protocol/actions/common.js';
import { defineAction } from '../../../protocol/index.js';
import { definePlugin } from '../plugin.js';
import { describedToolSchema } from './host-messages.js';
import { mostTools, toolNameSchema } from './tool-limits.js';

const installTools = defineAction('install_tools', {
  summary: 'Puts the tools of a module into the cell; their state stays there between calls.',
  offered: 'never',
  startsProcess: true,
  get input() {
    return {
      language: z.enum(['javascript', 'python']),
      /** The whole module. In JavaScript it exports `open(arguments)`, which returns the tools by name; in Python every public function is one. */
      source: z.string().max(33_554_432),
      /** In Python: the name in the module that is, holds or makes the tools, such as a class. */
      name: z
        .string()
        .regex(/^[A-Za-z_]\w*$/, 'must be a name of Python')
        .max(256)
        .optional(),
      /** The arguments that create the tools, if they take any. Any JSON. */
      arguments: z.unknown().optional(),
      /** Which of them, with their schemas. Without it: all tools of a Python module, with its own schemas. */
      tools: z
        .array(
          z.strictObject({
            name: toolNameSchema,
            /** JSON Schema for the arguments of calls; without one, nothing checks them here. */
            parameters: z.record(z.string(), z.unknown()).optional(),
            timeoutMs: timeoutSchema.optional(),
          }),
        )
        .min(1)
        .max(mostTools)
        .optional(),
    };
  },
  kinds: {
    language: 'plain',
    name: 'plain',
    source: { kind: 'code', languageIn: 'language' },
    arguments: 'arguments',
    tools: { fields: { name: 'plain', parameters: 'plain' } },
  },
  get output() {
    return {
      tools: z.array(z.string()),
      /** The module's own description of its tools, where the action named none. */
      described: z.array(describedToolSchema).default([]),
    };
  },
});

const callTool = defineAction('call_tool', {
  summary: 'Calls a tool that is installed in the cell.',
  offered: 'never',
  get input() {
    return {
      tool: toolNameSchema,
      /** By name. */
      arguments: z.record(z.string(), z.unknown()).default({}),
      /** Cancels the call after this time. Default: the tool's own limit, else two minutes. */
      timeoutMs: timeoutSchema.optional(),
    };
  },
  kinds: { tool: 'tool', arguments: 'arguments' },
  get output() {
    return {
      tool: z.string(),
      /** Any JSON. */
      result: z.unknown(),
      /** What the call printed, and only this call. */
      stdout: z.string(),
      stderr: z.string(),
      /** True when this lacks the middle of what it printed. */
      truncated: z.boolean(),
      durationMs: z.number(),
    };
  },
});

const resetTools = defineAction('reset_tools', {
  summary: 'Ends what tools keep in the cell. They stay installed and begin anew.',
  offered: 'never',
  input: {},
  kinds: {},
  output: {},
});

export const toolActions = { install_tools: installTools, call_tool: callTool, reset_tools: resetTools };

export default definePlugin({
  name: 'tools',
  version: '1.0.0',
  summary: 'Runs typed functions inside the cell, with state between calls.',
  actions: toolActions,
  async initialize(cell) {
    const { Toolbox } = await import('./toolbox.js');
    const toolbox = new Toolbox(cell);
    return {
      handlers: {
        install_tools: (action) => toolbox.install(action),
        call_tool: (action, context) => toolbox.call(action, context),
        reset_tools: async () => {
          await toolbox.reset();
          return {};
        },
      },
      dispose: () => toolbox.reset(),
    };
  },
});
