/** Describes the problem with the value of a setting, as precisely as its schema allows. */
import { z } from 'zod';
import { didYouMean, nearest } from '../protocol/nearest.js';
import { innermost, partOf, toSnakeCase, unwrap } from './config-schema.js';

type Path = readonly PropertyKey[];

/** One sentence for all problems: `path: message; path: message`. */
export function describeProblems(value: unknown, schema: z.ZodType, error: z.ZodError): string {
  return error.issues.flatMap((issue) => describe(value, schema, issue, [])).join('; ');
}

function describe(root: unknown, schema: z.ZodType, issue: z.core.$ZodIssue, before: Path): string[] {
  const path = [...before, ...issue.path];
  const at = issue.path.reduce<{ value: unknown; schema: z.ZodType | undefined }>(
    (place, name) => ({
      value: (place.value as Record<PropertyKey, unknown> | undefined)?.[name],
      schema:
        place.schema === undefined ? undefined : partOf(place.schema, place.value, name as string | number),
    }),
    { value: root, schema },
  );
  if (issue.code === 'unrecognized_keys' && at.schema !== undefined) {
    const inner = innermost(at.value, at.schema);
    const known = inner instanceof z.ZodObject ? Object.keys(inner.shape).map(toSnakeCase) : [];
    return issue.keys.map(
      (key) =>
        `${show([...path, key])}: is not known.${didYouMean(nearest(key, known))} Accepted: ${known.join(', ')}`,
    );
  }
  if (issue.code === 'invalid_union' && at.schema !== undefined && unwrap(at.schema) instanceof z.ZodUnion) {
    const meant = innermost(at.value, at.schema);
    const result = meant instanceof z.ZodObject ? meant.safeParse(at.value) : undefined;
    if (result !== undefined && !result.success)
      return result.error.issues.flatMap((inner) => describe(at.value, meant, inner, path));
  }
  return [path.length === 0 ? issue.message : `${show(path)}: ${issue.message}`];
}

function show(path: Path): string {
  return path.map(String).join('.');
}
