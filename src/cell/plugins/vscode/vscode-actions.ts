import * as z from 'zod';
import { defineAction } from '../../../protocol/action.js';
import { tokenHashSchema } from '../../../protocol/actions/common.js';

const openVscode = defineAction('open_vscode', {
  summary: 'Starts the editor, where it does not run, and lets in whoever knows a token.',
  offered: 'for-owner',
  opensSession: true,
  get input() {
    return {
      /** The SHA-256 of the token. The caller keeps the token itself: nothing that we record or send holds it. */
      tokenHash: tokenHashSchema,
    };
  },
  kinds: { tokenHash: 'plain' },
  get output() {
    return {
      /** On the loopback of the executor. */
      port: z.int().min(1).max(65_535),
      /** The workspace, as the editor names it. */
      folder: z.string().max(4096),
      /** Which process listens. */
      process: z.string().max(100),
    };
  },
});

const vscodeStatus = defineAction('vscode_status', {
  summary: 'Tells whether the editor runs.',
  offered: 'for-owner',
  readOnly: true,
  input: {},
  kinds: {},
  output: { running: z.boolean() },
});

const stopVscode = defineAction('stop_vscode', {
  summary: 'Ends the editor, its terminals and every connection to it.',
  offered: 'for-owner',
  input: {},
  kinds: {},
  output: { wasRunning: z.boolean() },
});

export const vscodeActions = {
  open_vscode: openVscode,
  vscode_status: vscodeStatus,
  stop_vscode: stopVscode,
};
