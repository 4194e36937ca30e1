/** Tools in the cell: modules are put there once, and their functions called as often as wanted. */
import * as z from 'zod';
import { timeoutSchema } from '../../../protocol/actions/common.js';
import { defineAction } from '../../../protocol/index.js';
import { definePlugin } from '../plugin.js';

const nameSchema = z.string().regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" and "-"');

const installTools = defineAction('install_tools', {
  summary: 'Puts the tools of a module into the cell; their state stays there between calls.',
  startsProcess: true,
  get input() {
    return {
      language: z.enum(['javascript', 'python']),
      /** The whole module. In JavaScript it exports `open(arguments)`, which gives the tools by name; in Python every public function is one. */
      source: z.string().max(33_554_432),
      /** What the tools are made with, if they are. Any JSON. */
      arguments: z.unknown().optional(),
      tools: z
        .array(
          z.strictObject({
            name: nameSchema,
            /** JSON Schema that the arguments of calls must fit; without one they are not checked here. */
            parameters: z.record(z.string(), z.unknown()).optional(),
            timeoutMs: timeoutSchema.optional(),
          }),
        )
        .min(1)
        .max(256),
    };
  },
  kinds: {
    language: 'plain',
    source: { kind: 'code', languageIn: 'language' },
    arguments: 'arguments',
    tools: { fields: { name: 'plain', parameters: 'plain' } },
  },
  output: { tools: z.array(z.string()) },
});

const callTool = defineAction('call_tool', {
  summary: 'Calls a tool that is installed in the cell.',
  get input() {
    return {
      tool: nameSchema,
      /** By name. */
      arguments: z.record(z.string(), z.unknown()).default({}),
      /** Gives the call up after this time. Default: that of the tool, else two minutes. */
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
