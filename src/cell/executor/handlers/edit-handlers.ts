import { editFile } from '../files/edit-file.js';
import type { Handler } from '../handler-context.js';

export const edit: Handler<'edit'> = (action, { tree, edits }, { signal }) =>
  editFile(tree, edits, action, signal);
