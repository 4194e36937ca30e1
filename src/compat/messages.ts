/**
 * Texts as data: code names a message and its values, and a catalogue supplies the words when an answer leaves the
 * server. So the operator of a server can choose the words that its clients look for.
 */
import { readFileSync } from 'node:fs';
import { WorkcellError } from '../protocol/index.js';

/** The texts by key. `{name}` stands for a value, `{{` and `}}` for braces. */
export type Catalogue = Readonly<Record<string, string>>;

/** A message without its words yet, or several texts in a row. */
export class Message {
  readonly key: string;
  readonly values: Values;

  constructor(key: string, values: Values = {}) {
    this.key = key;
    this.values = values;
  }
}

export type Text = string | Message | readonly Text[];
type Values = Readonly<Record<string, Text | number>>;
export type Say = (text: Text) => string;

type Names<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;

/** Makes messages of one catalogue; each takes the values that its text names. */
export type Words<Known extends Catalogue> = <Key extends keyof Known & string>(
  key: Key,
  ...values: [Names<Known[Key]>] extends [never] ? [] : [Readonly<Record<Names<Known[Key]>, Text | number>>]
) => Message;

export function wordsOf<Known extends Catalogue>(_known: Known): Words<Known> {
  return (key, ...[values]) => new Message(key, values);
}

/** Puts messages into the words of the catalogue. */
export function speaker(catalogue: Catalogue): Say {
  const say = (text: Text): string => {
    if (typeof text === 'string') return text;
    if (!(text instanceof Message)) return text.map(say).join('');
    const { key, values } = text;
    return (catalogue[key] ?? '').replace(slots, (slot, name: string | undefined) => {
      if (name === undefined) return slot[0] ?? '';
      const value = values[name] ?? '';
      return typeof value === 'number' ? String(value) : say(value);
    });
  };
  return say;
}

/** The catalogue with replacements from a JSON file. An unknown key or value is an error. */
export function readMessages<Known extends Catalogue>(known: Known, file: string): Catalogue {
  return replaceMessages(known, parseFile(file), file);
}

export function replaceMessages<Known extends Catalogue>(
  known: Known,
  given: Readonly<Record<string, unknown>>,
  source: string,
): Catalogue {
  for (const [key, text] of Object.entries(given)) {
    if (!Object.hasOwn(known, key))
      throw refuse(source, `there is no message "${key}". --print-messages prints those that there are`);
    if (typeof text !== 'string') throw refuse(source, `the message "${key}" must be a text`);
    const names = namesIn(known[key] ?? '');
    const strange = namesIn(text).find((name) => !names.includes(name));
    if (strange !== undefined) {
      const all = names.map((name) => `{${name}}`).join(', ') || 'none';
      throw refuse(source, `the message "${key}" has no value {${strange}}. It has: ${all}`);
    }
  }
  return { ...known, ...(given as Catalogue) };
}

const slots = /\{\{|\}\}|\{(\w+)\}/g;

function namesIn(text: string): string[] {
  return [...text.matchAll(slots)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}

function parseFile(file: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw refuse(file, cause instanceof Error ? cause.message : String(cause));
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw refuse(file, 'it must be a JSON object with the texts by their keys');
}

function refuse(source: string, reason: string): WorkcellError {
  return new WorkcellError('invalid-config', `The messages of ${source} cannot be used: ${reason}.`, {
    details: { file: source },
  });
}
