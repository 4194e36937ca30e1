/** Every name that a package entry point exports says in a doc comment what it is. */
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { readText } from './source.js';

const { exports } = JSON.parse(readText('package.json')) as { exports: Record<string, { default: string }> };
const entries = Object.values(exports).map((entry) =>
  entry.default.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts'),
);

test('every export of an entry point has a doc comment', () => {
  const bare = entries.flatMap((file) =>
    exportsOf(file)
      .filter(({ file, name }) => !hasComment(readText(file), name))
      .map(({ file, name }) => `${file}: ${name}`),
  );
  expect([...new Set(bare)].sort()).toEqual([]);
});

test('the check sees an export without a comment', () => {
  const source =
    '/** One. */\nexport const one = 1;\n\nexport const two = 2;\n/** Three. */\nexport async function three() {}\n';
  expect(['one', 'two', 'three'].filter((name) => hasComment(source, name))).toEqual(['one', 'three']);
});

/** What a file exports, each name with the file that declares it. */
function exportsOf(file: string): { file: string; name: string }[] {
  const source = readText(file);
  const own = [...source.matchAll(declaration)].map((match) => ({ file, name: match[1] ?? '' }));
  const passedOn = [...source.matchAll(/^export (?:type )?\{([^}]*)\} from '(\.[^']*)\.js'/gm)].flatMap(
    ([, list = '', from = '']) => {
      const target = normalize(join(dirname(file), `${from}.ts`));
      const names = list.split(',').map((part) => part.trim().replace(/^type /, ''));
      return exportsOf(target).filter(({ name }) => names.includes(name));
    },
  );
  return [...own, ...passedOn];
}

const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm;

/** A comment describes an overloaded function once, above its first form. */
function hasComment(source: string, name: string): boolean {
  const first = [...source.matchAll(declaration)].find((match) => match[1] === name);
  return first !== undefined && /\*\/\n(?:\/\/ biome-ignore .*\n)?$/.test(source.slice(0, first.index));
}
