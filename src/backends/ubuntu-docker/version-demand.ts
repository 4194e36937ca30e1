/** Versions such as `3.11.2`, and demands on them, such as `>=3.10,<4`. */

const condition = /^\s*(>=|<=|==|!=|>|<)?\s*(\d+(?:\.\d+)*)\s*$/;

export function isDemand(text: string): boolean {
  return text.split(',').every((part) => condition.test(part));
}

/** A bare version demands that it begins so. */
export function satisfies(version: string, demand: string): boolean {
  return demand.split(',').every((part) => {
    const [, sign, wanted = ''] = condition.exec(part) ?? [];
    const order = compare(version, wanted);
    switch (sign) {
      case '>=':
        return order >= 0;
      case '<=':
        return order <= 0;
      case '>':
        return order > 0;
      case '<':
        return order < 0;
      case '!=':
        return !beginsWith(version, wanted);
      default:
        return beginsWith(version, wanted);
    }
  });
}

function compare(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => text.split('.').map(Number));
  for (let index = 0; index < Math.max(a?.length ?? 0, b?.length ?? 0); index++) {
    const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function beginsWith(version: string, wanted: string): boolean {
  return `${version}.`.startsWith(`${wanted}.`);
}
