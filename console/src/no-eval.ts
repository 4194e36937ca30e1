/** Import it first: schemas otherwise try to compile themselves, which the policy of the page refuses. */
import * as z from 'zod';

z.config({ jitless: true });
