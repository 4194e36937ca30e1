/** Takes an action apart into what it carries, by the kinds that its definition names. */
import {
  type FieldKind,
  type FieldKinds,
  holdsSecret,
  type KindDetail,
  kindOf,
  type NestedKind,
} from './kinds.js';

/** One thing that an action carries. `field` is its place; things with the same `group` belong together. */
export type Carried = At &
  (
    | {
        readonly kind: 'path';
        readonly access: 'name' | 'read' | 'write' | 'remove' | 'cwd';
        readonly path: string;
        readonly recursive?: boolean;
      }
    | {
        readonly kind: 'content';
        readonly path: string;
        readonly text: string;
        readonly append: boolean;
        readonly part?: boolean;
      }
    /** `target` names the shell that runs afterwards. */
    | ({ readonly kind: 'shell'; readonly source: string; readonly target?: string | undefined } & Fed)
    | ({ readonly kind: 'argv'; readonly argv: readonly string[] } & Fed)
    | {
        readonly kind: 'input';
        readonly text: string;
        readonly target: string | undefined;
        /** True when a terminal takes it, for which some characters are keys. */
        readonly keys?: boolean;
      }
    | { readonly kind: 'code'; readonly code: string; readonly language: string }
    | { readonly kind: 'variable'; readonly name: string; readonly value: string }
    | { readonly kind: 'address'; readonly address: string }
    | { readonly kind: 'tool'; readonly name: string }
    | { readonly kind: 'arguments'; readonly value: unknown }
    | { readonly kind: 'unknown'; readonly value: unknown }
  );

interface At {
  readonly field: string;
  readonly group: string;
}

interface Fed {
  /** What stands on standard input. */
  readonly input?: string | undefined;
  /** True when later actions write more of it. */
  readonly open?: boolean | undefined;
}

type Values = Readonly<Record<string, unknown>>;
type Described = { readonly kinds?: FieldKinds | undefined } | undefined;

/**
 * What an action carries. Numbers, booleans and empty values carry nothing. A field is unknown when its definition
 * gives it no kind, or when its value does not fit the kind; without a definition every field is unknown.
 */
export function describeAction(definition: Described, action: Values): Carried[] {
  const { action: _, ...fields } = action;
  return describeFields(definition?.kinds ?? {}, fields, fields, '');
}

function describeFields(kinds: FieldKinds, fields: Values, siblings: Values, group: string): Carried[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    describeValue(kindOf(kinds, name), value, siblings, {
      field: group === '' ? name : `${group}.${name}`,
      group,
    }),
  );
}

function describeValue(kind: FieldKind | undefined, value: unknown, siblings: Values, at: At): Carried[] {
  if (kind === 'plain' || kind === 'part' || kind === 'secret' || !carriesText(value)) return [];
  if (kind === undefined) return [{ ...at, kind: 'unknown', value }];
  if (typeof kind !== 'string' && !('kind' in kind)) return describeNested(kind, value, siblings, at);
  const detail = (typeof kind === 'string' ? { kind } : kind) as KindDetail;
  if (detail.kind === 'arguments') return [{ ...at, kind: 'arguments', value }];
  if (detail.kind === 'environment' && isTable(value))
    return Object.entries(value).map(([name, text]) => ({
      ...at,
      kind: 'variable',
      name,
      value: String(text),
    }));
  if (detail.kind === 'argv') return describeArgv(detail, value, siblings, at);
  if (Array.isArray(value))
    return value.flatMap((entry: unknown) => describeValue(kind, entry, siblings, at));
  return typeof value === 'string'
    ? describeText(detail, value, siblings, at)
    : [{ ...at, kind: 'unknown', value }];
}

function describeNested(kind: NestedKind, value: unknown, siblings: Values, at: At): Carried[] {
  if ('parse' in kind) return describeParsed(kind, value, siblings, at);
  if (Array.isArray(value))
    return value.flatMap((entry: unknown, index) =>
      describeNested(kind, entry, siblings, { ...at, field: `${at.field}.${index}` }),
    );
  if (!isTable(value)) return [{ ...at, kind: 'unknown', value }];
  if ('fields' in kind) return describeFields(kind.fields, value, { ...siblings, ...value }, at.field);
  return Object.entries(value).flatMap(([name, entry]) =>
    describeValue(kind.values, entry, siblings, { field: `${at.field}.${name}`, group: at.field }),
  );
}

function describeParsed(
  { parse, as }: Extract<NestedKind, { parse: unknown }>,
  value: unknown,
  siblings: Values,
  at: At,
): Carried[] {
  try {
    return describeValue(as, parse(String(value)), siblings, at);
  } catch {
    return [{ ...at, kind: 'unknown', value }];
  }
}

function describeArgv(
  detail: Extract<KindDetail, { kind: 'argv' }>,
  value: unknown,
  siblings: Values,
  at: At,
): Carried[] {
  const { rest } = detail;
  const more = rest === undefined ? [] : (siblings[rest] ?? []);
  const words: unknown[] = [
    ...(Array.isArray(value) ? value : [value]),
    ...(Array.isArray(more) ? more : [more]),
  ];
  if (!words.every((word) => typeof word === 'string')) return [{ ...at, kind: 'unknown', value }];
  return [{ ...at, kind: 'argv', argv: words as string[], ...fedBy(detail, siblings) }];
}

const accesses = {
  path: 'name',
  'path-read': 'read',
  'path-write': 'write',
  'path-cwd': 'cwd',
} as const;

function describeText(detail: KindDetail, value: string, siblings: Values, at: At): Carried[] {
  switch (detail.kind) {
    case 'path':
    case 'path-read':
    case 'path-write':
    case 'path-cwd':
      return [{ ...at, kind: 'path', access: accesses[detail.kind], path: value }];
    case 'path-remove': {
      const recursive = detail.recursive === undefined || siblings[detail.recursive] === true;
      return [{ ...at, kind: 'path', access: 'remove', path: value, recursive }];
    }
    case 'members':
      return [{ ...at, kind: 'path', access: 'write', path: `${String(siblings[detail.below])}/${value}` }];
    case 'content': {
      const append = detail.append !== undefined && siblings[detail.append] === true;
      const path = String(siblings[detail.to]);
      const text = decoded(value, detail.encoding, siblings);
      return [{ ...at, kind: 'content', path, text, append, ...(detail.part && { part: true }) }];
    }
    case 'shell': {
      const { typedIf, target } = detail;
      if (typedIf !== undefined && siblings[typedIf] === true)
        return [{ ...at, kind: 'input', text: value, target: nameOf(target, siblings), keys: true }];
      return [
        {
          ...at,
          kind: 'shell',
          source: value,
          ...(target !== undefined && { target: nameOf(target, siblings) }),
          ...fedBy(detail, siblings),
        },
      ];
    }
    case 'input': {
      const { encoding, target } = detail;
      const text = decoded(value, encoding, siblings);
      return [{ ...at, kind: 'input', text, target: nameOf(target, siblings) }];
    }
    case 'code': {
      const language = 'language' in detail ? detail.language : String(siblings[detail.languageIn] ?? '');
      return [{ ...at, kind: 'code', code: value, language }];
    }
    case 'address':
      return [{ ...at, kind: 'address', address: value }];
    case 'tool':
      return [{ ...at, kind: 'tool', name: value }];
    default:
      return [{ ...at, kind: 'unknown', value }];
  }
}

function fedBy(detail: Extract<KindDetail, { kind: 'argv' | 'shell' }>, siblings: Values): Fed {
  const { stdin, encoding, open } = detail;
  const given = stdin === undefined ? undefined : siblings[stdin];
  return {
    ...(typeof given === 'string' && { input: decoded(given, encoding, siblings) }),
    ...(open !== undefined && siblings[open] === true && { open: true }),
  };
}

/** Base64 as Node reads it: up to the padding, in both alphabets, past whatever is no part of either. */
function decoded(value: string, encoding: string | undefined, siblings: Values): string {
  if (encoding === undefined || siblings[encoding] !== 'base64') return value;
  const [body = ''] = value.replaceAll('-', '+').replaceAll('_', '/').split('=', 1);
  const digits = body.replace(/[^A-Za-z0-9+/]/g, '');
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits;
  return new TextDecoder().decode(Uint8Array.from(atob(whole), (char) => char.charCodeAt(0)));
}

function nameOf(field: string | undefined, siblings: Values): string | undefined {
  return field === undefined ? undefined : String(siblings[field]);
}

/** Numbers, booleans and nothing carry nothing. */
function carriesText(value: unknown): boolean {
  if (typeof value === 'string') return true;
  if (Array.isArray(value)) return value.some(carriesText);
  return isTable(value) && Object.values(value).some(carriesText);
}

function isTable(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The action as the record may have it: without fields that are secret by their kind. */
export function withoutSecrets<Action extends Values>(definition: Described, action: Action): Action {
  const kinds = definition?.kinds;
  if (kinds === undefined || !Object.values(kinds).some(holdsSecret)) return action;
  return hidden({ fields: kinds }, action) as Action;
}

/** `Bearer ${NAME}` reveals nothing; its value comes later. */
const reference = /^(?:[A-Za-z]+ )?\$\{[A-Za-z_]\w*\}$/;

function hidden(kind: FieldKind | undefined, value: unknown): unknown {
  if (kind === undefined || !holdsSecret(kind)) return value;
  if (Array.isArray(value)) return value.map((entry) => hidden(kind, entry));
  if (kind === 'secret') return typeof value === 'string' && reference.test(value) ? value : '[secret]';
  if (!isTable(value) || typeof kind === 'string') return value;
  const inner = (name: string) =>
    'values' in kind ? kind.values : 'fields' in kind ? kindOf(kind.fields, name) : undefined;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, hidden(inner(name), entry)]));
}
