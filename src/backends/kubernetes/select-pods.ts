/** Which pods a selector means. */

export interface PodSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** An empty one selects all. One that we do not understand may select any. */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: PodSelector = {},
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      const isOneOf = value !== undefined && values.includes(value);
      if (operator === 'In') return isOneOf;
      if (operator === 'NotIn') return !isOneOf;
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      return true;
    })
  );
}
