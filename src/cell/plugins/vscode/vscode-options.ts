import * as z from 'zod';

/** What `{ name: 'vscode', options }` takes. */
export const optionsSchema = z
  .strictObject({
    /** The program in the cell. */
    program: z.string().min(1).default('code-server'),
    /** Settings of VS Code, over the preset ones. */
    settings: z.record(z.string(), z.unknown()).default({}),
    /** Where the executor listens for browsers. Any other than loopback is open to the network, behind the token. */
    host: z.string().min(1).default('127.0.0.1'),
    /** 0 takes a free one. */
    port: z.int().min(0).max(65_535).default(0),
  })
  .prefault({});

export type VscodeOptions = z.output<typeof optionsSchema>;
