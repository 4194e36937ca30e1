import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const directories = 100;

/** That many small files, spread over a hundred directories. */
export function fill(
  path: string,
  count: number,
  file: (index: number) => readonly [ending: string, content: string] = () => ['', 'content'],
): void {
  for (let directory = 0; directory < directories; directory++) {
    mkdirSync(join(path, `d${directory}`), { recursive: true });
    for (let index = 0; index < count / directories; index++) {
      const [ending, content] = file(index * directories + directory);
      writeFileSync(join(path, `d${directory}`, `f${index}${ending}`), content);
    }
  }
}

/** The same from names of the files of another tree, which takes a fraction of the time. */
export function fillWithNames(path: string, count: number, from: string, there: number): void {
  for (let directory = 0; directory < directories; directory++) {
    const [target, source] = [path, from].map((tree) => join(tree, `d${directory}`)) as [string, string];
    mkdirSync(target, { recursive: true });
    for (let index = 0; index < count / directories; index++)
      linkSync(join(source, `f${index % (there / directories)}`), join(target, `f${index}`));
  }
}
