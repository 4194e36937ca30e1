/** The module `workcell` inside a cell: enough to declare tools and to distinguish errors. */
import { type Definition, toolMarker } from './collect-tools.js';

export { WorkcellError } from '../../../protocol/errors.js';

export function tool(definition: Definition): object {
  return { ...definition, [toolMarker]: true, definition };
}
