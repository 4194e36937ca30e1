import type { Backend } from 'workcell/backends';
import type { z } from 'zod';

type Directory = z.ZodDefault<z.ZodString>;

type Options = {
  readonly workspace: z.ZodOptional<z.ZodString>;
  readonly env: z.ZodDefault<z.ZodRecord<z.ZodString, z.ZodString>>;
  readonly network: z.ZodDefault<z.ZodEnum<{ none: 'none'; machine: 'machine' }>>;
  readonly keepAlive: z.ZodDefault<z.ZodBoolean>;
  readonly directory: Directory;
};

declare const nsenter: Backend<Options, { readonly directory: Directory }>;
export default nsenter;

declare module 'workcell/backends' {
  interface OutsideBackends {
    'workcell-backend-nsenter': typeof nsenter;
  }
}
