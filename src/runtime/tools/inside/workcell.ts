/** What the module `workcell` is inside a cell: enough to declare tools and to tell errors apart. */
import { type Definition, toolMarker } from './collect-tools.js';

export { WorkcellError } from '../../../protocol/errors.js';

export function tool(definition: Definition): object {
  return { ...definition, [toolMarker]: true, definition };
}
