import type { z } from 'zod';
import type { ActionTable, PluginActions } from '../action.js';
import { edit } from './edit.js';
import { getEnv, setEnv, stats, unsetEnv } from './environment.js';
import { copy, list, makeDir, move, read, remove, stat, watch, write } from './files.js';
import {
  getProcess,
  listProcesses,
  signalProcess,
  startProcess,
  waitProcess,
  writeProcess,
} from './processes.js';
import { closeSession, listSessions, readOutput, run } from './run.js';
import { glob, grep } from './search.js';

/** The actions of every executor; plugins add theirs. Handlers, routes and reference page derive from this object. */
export const actions = {
  run,
  read_output: readOutput,
  list_sessions: listSessions,
  close_session: closeSession,
  read,
  write,
  edit,
  list,
  stat,
  make_dir: makeDir,
  remove,
  move,
  copy,
  watch,
  glob,
  grep,
  start_process: startProcess,
  write_process: writeProcess,
  list_processes: listProcesses,
  get_process: getProcess,
  signal_process: signalProcess,
  wait_process: waitProcess,
  get_env: getEnv,
  set_env: setEnv,
  unset_env: unsetEnv,
  stats,
} as const satisfies ActionTable;

type KnownActions = typeof actions & PluginActions;

/** What every executor can do by itself. */
export type CoreActionName = keyof typeof actions;

/** The name of an action: a core action, or one of a plugin. */
export type ActionName = keyof KnownActions;

/** An action as a caller writes it: you may leave out defaults. */
export type ActionInput<Name extends ActionName = ActionName> = {
  [N in Name]: z.input<KnownActions[N]['input']>;
}[Name];

/** A checked action, with defaults filled in. */
export type Action<Name extends ActionName = ActionName> = {
  [N in Name]: z.output<KnownActions[N]['input']>;
}[Name];

/** What an action answers. */
export type Observation<Name extends ActionName = ActionName> = {
  [N in Name]: z.output<KnownActions[N]['output']>;
}[Name];

/** The names of the core actions. */
export const actionNames = Object.keys(actions) as CoreActionName[];
