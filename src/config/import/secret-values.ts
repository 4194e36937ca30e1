/** Recognises values of a foreign configuration that are certainly no secrets. The import does not copy any other. */
import { isSecretName } from '../redact.js';

const notCopied = '<not-copied>';

/** Switches, numbers, single words, paths, addresses, versions and locales; anything else may be a secret. */
const harmless = [
  /^$/,
  /^-?\d{1,6}(?:\.\d{1,6}){0,3}$/,
  /^[a-z]{1,16}$/i,
  /^[a-z]{2}_[A-Z]{2}(?:\.UTF-8)?$/,
  /^~?\/[\w./:@ -]*$/,
  /^[\w.+-]+@[\w.-]+\.[a-z]+$/i,
];

/** Whether a variable may hold a secret, by its name and its value. */
export function mayBeSecret(name: string, text: string): boolean {
  if (text === '') return false;
  if (isSecretName(name)) return true;
  if (/^https?:/i.test(text)) return addressWithout(text) !== text;
  return looksMade(text) || !harmless.some((form) => form.test(text));
}

/** An address without possible secrets: its user, its query, and the whole path if a key is in it. */
export function addressWithout(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === '' &&
    !looksMade(url.pathname)
  )
    return text;
  return `${url.origin}${looksMade(url.pathname) ? '/' : url.pathname}`;
}

/** Words of a program with a mark in place of possible secrets. */
export function wordsWithout(words: readonly string[]): string[] {
  return words.map((word, index) => {
    const before = words[index - 1] ?? '';
    const isFlag = /^--?[\w-]+$/;
    if (isFlag.test(before) && !isFlag.test(word) && isSecretName(before)) return notCopied;
    const [, name = '', value = ''] = /^(-*[\w.-]+)[=:]\s*(.*)$/s.exec(word) ?? [];
    const isAddress = /^[a-z+.-]+:\/\//i.test(word);
    if (isAddress) return /^https?:/i.test(word) ? addressWithout(word) : hasUser(word) ? notCopied : word;
    if (name !== '' && (isSecretName(name) || isHeader.test(name) || looksMade(value) || hasUser(value)))
      return `${name}=${notCopied}`;
    return looksMade(word) ? notCopied : word;
  });
}

const isHeader = /^(?:proxy-)?authorization$|^cookie$/i;

function hasUser(text: string): boolean {
  return /^[a-z+.-]+:\/\/[^\s/]*@/i.test(text) || (/^https?:/i.test(text) && addressWithout(text) !== text);
}

const prefixes =
  /(?:^|[^a-z])(?:sk|pk|rk|gh[opsur]|github_pat|glpat|xox[a-z]|akia|asia|aiza|hf|npm|eyj)[-_a-z0-9]{8,}/i;

/** Whether it has a generated part: long, with a digit, or with the prefix of a known kind of key. */
function looksMade(text: string): boolean {
  if (prefixes.test(text) && /\d/.test(text)) return true;
  return text.split(/[^a-z0-9]+/i).some((part) => part.length >= 12 && /\d/.test(part));
}
