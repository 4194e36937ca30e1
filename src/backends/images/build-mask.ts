/** Masks secrets in the lines that a build prints. */

/** Shorter ones would hide ordinary text. */
const shortest = 4;

export function createMask(variables: Readonly<Record<string, string>>): (text: string) => string {
  const secrets = Object.values(variables)
    .flatMap((value) => [...value.split('\n'), ...credentials(value)])
    .filter((secret) => secret.length >= shortest)
    .sort((one, other) => other.length - one.length);
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
}

/** The password of an address, as the address writes it and as a program may print it. */
function credentials(value: string): string[] {
  const password = URL.canParse(value) ? new URL(value).password : '';
  if (password === '') return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
