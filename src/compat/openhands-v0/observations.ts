/** Observations in their wire form. Clients reject unknown keys, so add none. */
import type { Say, Text } from '../messages.js';
import { words } from './openhands-words.js';

/** An observation whose texts have no words yet. */
export interface ObservationEvent {
  readonly observation: string;
  readonly content: Text;
  readonly extras: Readonly<Record<string, unknown>>;
  readonly success?: boolean;
  readonly message: Text;
  /** Leaves out the middle of a longer content. */
  readonly isCut?: boolean;
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
  readonly prefix: Text;
  readonly suffix: Text;
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

/** The observation in its wire form. */
export function spoken(event: ObservationEvent, say: Say): object {
  const { content, message, extras, isCut = false, ...rest } = event;
  const metadata = extras.metadata as CommandMetadata | undefined;
  return {
    ...rest,
    content: isCut ? truncate(say(content), say) : say(content),
    message: say(message),
    extras:
      metadata === undefined
        ? extras
        : {
            ...extras,
            metadata: { ...metadata, prefix: say(metadata.prefix), suffix: say(metadata.suffix) },
          },
  };
}

export function runObservation(result: {
  command: string;
  content: Text;
  hidden: boolean;
  metadata?: Partial<CommandMetadata>;
}): ObservationEvent {
  const { command, content, hidden } = result;
  const metadata = { ...unknownMetadata, ...result.metadata };
  return {
    observation: 'run',
    content,
    isCut: !hidden && typeof content === 'string',
    extras: { command, hidden, metadata },
    success: metadata.exit_code === 0,
    message: words('summary.run', { command, exit_code: metadata.exit_code }),
  };
}

export function errorObservation(content: Text): ObservationEvent {
  return { observation: 'error', content, extras: { error_id: '' }, message: content };
}

/** For an action that waits until a person has decided: nothing happened yet. */
export function nullObservation(): ObservationEvent {
  return { observation: 'null', content: '', extras: {}, message: '' };
}

export function userRejectedObservation(): ObservationEvent {
  const content = words('action.rejected');
  return { observation: 'user_rejected', content, extras: {}, message: content };
}

export function readObservation(path: string, content: Text, source: 'default' | 'oh_aci'): ObservationEvent {
  return {
    observation: 'read',
    content,
    extras: { path, impl_source: source },
    message: words('summary.read', { path }),
  };
}

export function cellObservation(result: {
  code: string;
  content: Text;
  image_urls: string[] | null;
}): ObservationEvent {
  const { code, content, image_urls } = result;
  return {
    observation: 'run_ipython',
    content,
    isCut: true,
    extras: { code, image_urls },
    // Clients expect true whatever became of the code.
    success: true,
    message: words('summary.run_ipython'),
  };
}

export function writeObservation(path: string): ObservationEvent {
  return { observation: 'write', content: '', extras: { path }, message: words('summary.write', { path }) };
}

export function editObservation(result: {
  path: string;
  content: Text;
  oldText: string | null;
  newText: string | null;
  diff: string;
  /** What a model made of a draft, of a file that was there before. */
  draft?: { existed: boolean };
}): ObservationEvent {
  const { path, content, oldText, newText, diff, draft } = result;
  return {
    observation: 'edit',
    content,
    extras: {
      path,
      prev_exist: draft?.existed ?? false,
      old_content: oldText,
      new_content: newText,
      impl_source: draft === undefined ? 'oh_aci' : 'llm_based_edit',
      diff,
      _diff_cache: null,
    },
    message: words('summary.edit', { path }),
  };
}

/** Keeps head and tail. A client cuts once more, at the same places, and so replaces the note by its own. */
function truncate(content: string, say: Say): string {
  if (content.length <= longestContent) return content;
  const half = longestContent / 2;
  return `${content.slice(0, half)}${say(words('bash.truncated'))}${content.slice(-half)}`;
}
