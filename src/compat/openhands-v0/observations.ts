/** Observations as they go over the wire. Clients reject keys that they do not know, so none are added. */
import { bash, rejected, summaries } from './openhands-messages.js';

export interface ObservationEvent {
  readonly observation: string;
  readonly content: string;
  readonly extras: Readonly<Record<string, unknown>>;
  readonly success?: boolean;
  readonly message: string;
}

export interface CommandMetadata {
  /** -1 while the command still runs. */
  readonly exit_code: number;
  /** The shell's last background job; -1 without one. */
  readonly pid: number;
  readonly username: string | null;
  readonly hostname: string | null;
  readonly working_dir: string | null;
  readonly py_interpreter_path: string | null;
  readonly prefix: string;
  readonly suffix: string;
}

const unknownMetadata: CommandMetadata = {
  exit_code: -1,
  pid: -1,
  username: null,
  hostname: null,
  working_dir: null,
  py_interpreter_path: null,
  prefix: '',
  suffix: '',
};

const longestContent = 30_000;

export function runObservation(result: {
  command: string;
  content: string;
  hidden: boolean;
  metadata?: Partial<CommandMetadata>;
}): ObservationEvent {
  const { command, content, hidden } = result;
  const metadata = { ...unknownMetadata, ...result.metadata };
  return {
    observation: 'run',
    content: hidden ? content : truncate(content),
    extras: { command, hidden, metadata },
    success: metadata.exit_code === 0,
    message: summaries.run(command, metadata.exit_code),
  };
}

export function errorObservation(content: string): ObservationEvent {
  return { observation: 'error', content, extras: { error_id: '' }, message: content };
}

/** For an action that waits until a person has decided: nothing happened yet. */
export function nullObservation(): ObservationEvent {
  return { observation: 'null', content: '', extras: {}, message: '' };
}

export function userRejectedObservation(): ObservationEvent {
  return { observation: 'user_rejected', content: rejected, extras: {}, message: rejected };
}

export function readObservation(
  path: string,
  content: string,
  source: 'default' | 'oh_aci',
): ObservationEvent {
  return {
    observation: 'read',
    content,
    extras: { path, impl_source: source },
    message: summaries.read(path),
  };
}

export function cellObservation(result: {
  code: string;
  content: string;
  image_urls: string[] | null;
}): ObservationEvent {
  const { code, content, image_urls } = result;
  return {
    observation: 'run_ipython',
    content: truncate(content),
    extras: { code, image_urls },
    // Clients expect it to be true whatever became of the code.
    success: true,
    message: summaries.runIpython,
  };
}

export function writeObservation(path: string): ObservationEvent {
  return { observation: 'write', content: '', extras: { path }, message: summaries.write(path) };
}

export function editObservation(result: {
  path: string;
  content: string;
  oldText: string | null;
  newText: string | null;
  diff: string;
}): ObservationEvent {
  const { path, content, oldText, newText, diff } = result;
  return {
    observation: 'edit',
    content,
    extras: {
      path,
      prev_exist: false,
      old_content: oldText,
      new_content: newText,
      impl_source: 'oh_aci',
      diff,
      _diff_cache: null,
    },
    message: summaries.edit(path),
  };
}

/** Keeps head and tail. A client cuts once more, at the same places, and so replaces the note by its own. */
function truncate(content: string): string {
  if (content.length <= longestContent) return content;
  const half = longestContent / 2;
  return content.slice(0, half) + bash.truncated + content.slice(-half);
}
