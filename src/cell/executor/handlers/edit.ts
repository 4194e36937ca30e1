import type { Handler } from '../context.js';
import { editFile } from '../files/edit-file.js';

export const edit: Handler<'edit'> = (action, { tree, edits }) => editFile(tree, edits, action);
