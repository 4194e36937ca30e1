import * as z from 'zod';

/** What `{ name: 'browser', options }` takes. */
export const optionsSchema = z.strictObject({
  /** The program in the cell. Default: the installed Chromium or Chrome. */
  program: z.string().min(1).optional(),
  viewport: z
    .strictObject({ width: z.int().min(100).max(4096), height: z.int().min(100).max(4096) })
    .default({ width: 1280, height: 720 }),
  /** Private ranges, such as `10.0.0.0/8`, from which pages may load all the same. */
  allowAddresses: z.array(z.union([z.cidrv4(), z.cidrv6()])).default([]),
  /** Allows `file:` addresses: everything that the browser's own user can read in the cell. */
  allowFiles: z.boolean().default(false),
  /** The browser cancels larger downloads. */
  downloadBytes: z.int().positive().default(268_435_456),
  /** Pages pause after this long without an action. */
  parkAfterMs: z.int().min(0).max(2_147_483_647).default(30_000),
});

export type BrowserOptions = z.output<typeof optionsSchema>;
