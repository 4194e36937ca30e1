/** Which methods a published client has, as its own declarations tell, and which of them ran. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The public ones of a class, `static` before those of the class itself. */
export function publicMethods(client: string, name: string): string[] {
  const declarations = join(
    dirname(createRequire(import.meta.url).resolve(`${client}/package.json`)),
    'dist/index.d.ts',
  );
  const text = readFileSync(declarations, 'utf8');
  const [, body] = new RegExp(`^declare class ${name}\\b[^\\n]*\\{\\n([^]*?)^\\}`, 'm').exec(text) ?? [];
  if (body === undefined) throw new Error(`${client} declares no class ${name}.`);
  const found = body.matchAll(/^ {2}(static )?(?:async )?([a-zA-Z]\w*)(?:<.*?>)?\(/gm);
  const names = [...found].map(([, kind = '', method = '']) => `${name}.${kind}${method}`);
  return [...new Set(names)].filter((method) => !method.endsWith('.constructor'));
}

/** Notes in `called` each method of an object that runs. */
export function noteCalls(target: object, prefix: string, called: Set<string>): void {
  for (const name of Object.getOwnPropertyNames(target)) {
    const { value, writable } = Object.getOwnPropertyDescriptor(target, name) ?? {};
    if (name === 'constructor' || !writable || typeof value !== 'function') continue;
    Object.defineProperty(target, name, {
      configurable: true,
      writable: true,
      value(this: unknown, ...words: unknown[]) {
        called.add(`${prefix}${name}`);
        return value.apply(this, words);
      },
    });
  }
}
