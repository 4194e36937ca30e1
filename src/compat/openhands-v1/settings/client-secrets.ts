/** Secrets that a client keeps here to fetch them again. They stay on this side and never enter the cell. */

import { z } from 'zod';
import { Refusal } from '../detail-errors.js';
import { words } from '../openhands-v1-messages.js';

const mostSecrets = 1000;

export const secretNameSchema = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'must be a letter, then letters, digits or underscores, at most 64');

export const secretSchema = z.object({
  name: secretNameSchema,
  value: z.string().max(65_536),
  description: z.string().max(4096).nullish(),
});

export interface SecretItem {
  readonly name: string;
  readonly description: string | null;
}

export class Secrets {
  readonly #all = new Map<string, { value: string; description: string | null }>();

  list(): SecretItem[] {
    return [...this.#all].map(([name, { description }]) => ({ name, description }));
  }

  set({ name, value, description = null }: z.output<typeof secretSchema>): SecretItem {
    if (!this.#all.has(name) && this.#all.size >= mostSecrets)
      throw new Refusal(400, words('settings.too_many_secrets', { most: mostSecrets }));
    this.#all.set(name, { value, description });
    return { name, description };
  }

  get(name: string): string {
    const secret = this.#all.get(name);
    if (secret === undefined) throw new Refusal(404, words('settings.no_secret', { name }));
    return secret.value;
  }

  delete(name: string): void {
    if (!this.#all.delete(name)) throw new Refusal(404, words('settings.no_secret', { name }));
  }
}
