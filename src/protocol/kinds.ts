/** What a field of an action can be. Rules, policies, records and lists of tools read these kinds, never names. */

const simpleKinds = [
  /** Names, patterns, messages: nothing acts on them. */
  'plain',
  /** A path that the action only names: to list, watch or ask about it. */
  'path',
  'path-read',
  'path-write',
  /** Removes the path and all below it. */
  'path-remove',
  /** A path that commands, and the other paths, start from. */
  'path-cwd',
  'shell',
  /** A program and its arguments, as a list. */
  'argv',
  /** Counts with the field that names this one, such as the arguments or the input of its program. */
  'part',
  /** Bytes that a program reads which runs already. */
  'input',
  /** Variables: an object of texts. */
  'environment',
  /** A URL or a host; a path of the cell where it is neither. */
  'address',
  /** Recorded nowhere, except as a reference such as `${NAME}`. */
  'secret',
  /** The name of a tool. */
  'tool',
  /** Any JSON whose meaning only its receiver knows, such as the arguments of a tool. */
  'arguments',
] as const;

type SimpleKind = (typeof simpleKinds)[number];

interface Fed<Sibling extends string> {
  /** What the program reads from its standard input. */
  readonly stdin?: Sibling;
  readonly encoding?: Sibling;
  /** True there when later actions write more of it. */
  readonly open?: Sibling;
}

/** Kinds that other fields say more about. `Sibling` is the name of a field beside this one, or around it. */
type DetailedKind<Sibling extends string = string> =
  /** Removes the files below the path only where `recursive` is true. */
  | { readonly kind: 'path-remove'; readonly recursive?: Sibling }
  /** Paths that the action writes below the path in `below`, such as the members of an archive. */
  | { readonly kind: 'members'; readonly below: Sibling }
  /** Where `typedIf` is true, it goes to the running command, as `input` does. */
  | ({ readonly kind: 'shell'; readonly typedIf?: Sibling; readonly target?: Sibling } & Fed<Sibling>)
  /** A list of words, or a program whose arguments are in `rest`. */
  | ({ readonly kind: 'argv'; readonly rest?: Sibling } & Fed<Sibling>)
  /** `target` names the program that receives it: pieces for the same one belong together. */
  | { readonly kind: 'input'; readonly encoding?: Sibling; readonly target?: Sibling }
  /** The definition fixes the language, or another field names it. */
  | { readonly kind: 'code'; readonly language: string }
  | { readonly kind: 'code'; readonly languageIn: Sibling }
  /** Content for the file whose path is in `to`. */
  | {
      readonly kind: 'content';
      readonly to: Sibling;
      readonly encoding?: Sibling;
      readonly append?: Sibling;
      /** True when it replaces a part of the file. */
      readonly part?: true;
    };

/** A kind in its long form. */
export type KindDetail = DetailedKind | { readonly kind: Exclude<SimpleKind, DetailedKind['kind']> };

/**
 * An object, or a list of objects, with its own kinds; a table whose values all have one kind; or a text in a language
 * that we parse into parts with kinds. Text that does not parse is unknown.
 */
export type NestedKind =
  | { readonly fields: { readonly [field: string]: FieldKind } }
  | { readonly values: FieldKind }
  | { readonly parse: (text: string) => unknown; readonly as: FieldKind };

/** What a field of an action is. A field without a kind is unknown, and unknown asks. */
export type FieldKind<Sibling extends string = string> = SimpleKind | DetailedKind<Sibling> | NestedKind;

/** The kind of each field of an action. */
export type FieldKinds = { readonly [field: string]: FieldKind };

/** True when a value of this kind has a secret in it. */
export function holdsSecret(kind: FieldKind): boolean {
  if (typeof kind === 'string') return kind === 'secret';
  if ('values' in kind) return holdsSecret(kind.values);
  return 'fields' in kind && Object.values(kind.fields).some(holdsSecret);
}

/** The kind of a field whose name comes from outside, such as `constructor`. */
export function kindOf(kinds: FieldKinds, field: string): FieldKind | undefined {
  return Object.hasOwn(kinds, field) ? kinds[field] : undefined;
}
