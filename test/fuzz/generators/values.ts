/** JSON that no schema expects, and messages with something wrong in them. */
import type { Random } from '../random.js';

export function anyValue(random: Random, depth = 4): unknown {
  const leaf = depth === 0 || random.chance(0.4);
  if (leaf) return random.pick(leaves)(random);
  return random.pick([
    () => random.list(6, () => anyValue(random, depth - 1)),
    () => Object.fromEntries(random.list(6, () => [random.pick(keys), anyValue(random, depth - 1)])),
    () => `${deep}${random.size(random.chance(0.1) ? 50_000 : 50)}`,
  ])();
}

/** The same message, with one of its parts replaced, left out or doubled. */
export function mutate(random: Random, message: unknown): unknown {
  if (typeof message !== 'object' || message === null || random.chance(0.15)) return anyValue(random);
  if (Array.isArray(message)) {
    const copy = [...message];
    const at = random.int(copy.length + 1);
    if (random.chance(0.3)) copy.splice(at, 1);
    else copy[at] = mutate(random, copy[at]);
    return copy;
  }
  const copy: Record<string, unknown> = { ...message };
  const names = Object.keys(copy);
  const name = names.length === 0 || random.chance(0.1) ? random.pick(keys) : random.pick(names);
  if (random.chance(0.2)) delete copy[name];
  else copy[name] = mutate(random, copy[name]);
  return copy;
}

const keys = [
  'id',
  'type',
  'method',
  'params',
  'result',
  'name',
  'data',
  'text',
  '__proto__',
  'constructor',
  'toJSON',
  'then',
  '0',
  '',
];

const leaves: readonly ((random: Random) => unknown)[] = [
  () => null,
  (random) => random.pick([0, -1, 1e308, -0, 2 ** 53, 4294967296, 0.1]),
  (random) => random.chance(0.5),
  (random) =>
    random.pick(['', 'x', '\0', '\ud800', '../../etc/passwd', '__proto__', 'a'.repeat(random.size(5000))]),
  (random) => random.bytes(random.size(200)).toString('latin1'),
  () => ({}),
  () => [],
];

/** Stands for lists within lists, which nothing that walks values by recursion could write. */
const deep = 'lists within lists: ';

/** As JSON. */
export function toText(value: unknown): string {
  return JSON.stringify(value).replace(
    new RegExp(`"${deep}(\\d+)"`, 'g'),
    (_, depth: string) => '['.repeat(Number(depth)) + ']'.repeat(Number(depth)),
  );
}
