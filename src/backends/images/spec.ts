/** What an image holds. The schema checks every field before it reaches a Dockerfile, a shell or a tag. */
import { z } from 'zod';
import { describeIssues, WorkcellError } from '../../protocol/index.js';

/** A registry, path, tag and digest, each optional but the path. */
const imageName = z
  .string()
  .max(255)
  .regex(
    /^(?:[a-zA-Z0-9][\w.-]*(?::\d{1,5})?\/)?[a-z0-9][a-z0-9._/-]*(?::[\w][\w.-]{0,127})?(?:@sha256:[\da-f]{64})?$|^sha256:[\da-f]{64}$/,
    'must be the name of an image, such as debian:bookworm',
  );

const specSchema = z.strictObject({
  /** The image to start from, or a directory with the Dockerfile that makes it. */
  base: z.union([imageName, z.strictObject({ directory: z.string().min(1) })]),
  /** Such as `linux/arm64`, where the engine can run it. Default: the engine's own. */
  platform: z
    .string()
    .regex(/^linux\/[a-z0-9]+(?:\/v\d)?$/, 'must be a platform such as linux/amd64')
    .optional(),
  /** Packages of the base's own distribution. */
  systemPackages: z
    .array(z.string().regex(/^[a-zA-Z0-9][\w+.:~=@-]*$(?<!-)/, 'must be the name of a package, such as jq'))
    .default([]),
  /** Requirements for pip, such as `requests>=2`. They go into a virtual environment that is first on PATH. */
  pythonPackages: z
    .array(
      z.string().regex(/^[a-zA-Z0-9][^\p{Cc}]*$/u, 'must be a requirement on one line, such as requests>=2'),
    )
    .default([]),
  /** Shell source that root runs last, such as `apt-get install -y jq`. */
  extraDeps: z
    .string()
    .refine((text) => !text.includes('\0'), 'must not hold a zero byte')
    .optional(),
  /** Whether Node and the executor go into the image too. Otherwise each cell mounts them. */
  executor: z.boolean().default(true),
  /** Whether CAMEL's DockerRuntime, unchanged, finds this package's tool server in the image. It needs the executor. */
  camel: z.boolean().default(false),
  /** The name before the tag. */
  repository: z
    .string()
    .max(200)
    .regex(
      /^(?:[a-zA-Z0-9][\w.-]*(?::\d{1,5})?\/)?[a-z0-9][a-z0-9._/-]*$/,
      'must be the name of an image without a tag',
    )
    .default('workcell-runtime'),
  /** Further names for the image. */
  tags: z.array(imageName.refine((name) => !name.includes('@'), 'must be a name and a tag')).default([]),
});

/** What goes into an image: base, packages, commands, executor. */
export type ImageSpec = z.input<typeof specSchema>;
export type CheckedSpec = z.output<typeof specSchema>;
/** One whose base is an image, also where it came from a directory. */
export type BasedSpec = CheckedSpec & { readonly base: string };

export function checkSpec(spec: ImageSpec): CheckedSpec {
  const result = specSchema.safeParse(spec);
  if (result.success) return result.data;
  throw new WorkcellError(
    'invalid-config',
    `The description of the image is not valid: ${describeIssues(result.error)}.`,
    { details: { issues: result.error.issues.map(({ path, message }) => ({ path, message })) } },
  );
}
