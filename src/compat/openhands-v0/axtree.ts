/** The accessibility tree as nodes, for clients that write the text of it themselves. */

interface Valued<Value> {
  readonly value: Value;
}

export interface AxTreeNode {
  readonly nodeId: string;
  readonly role: Valued<string>;
  readonly name: Valued<string>;
  readonly value?: Valued<string>;
  readonly properties: readonly { readonly name: string; readonly value: Valued<string | true> }[];
  readonly childIds: readonly string[];
  /** What actions call the element by. */
  readonly browsergym_id?: string;
}

const quoted = String.raw`'((?:\\.|[^'\\])*)'`;
const line = new RegExp(String.raw`^(\t*)(?:\[(\w+)\] )?(\S+) ${quoted}(?: value=${quoted})?(.*)$`);
const attribute = new RegExp(String.raw`, ([\w-]+)(?:=${quoted})?`, 'g');

/** Reads the text form, in which every line is a node, indented by one tab more than its parent. */
export function axTree(text: string): { nodes: AxTreeNode[] } | Record<string, never> {
  const nodes: (AxTreeNode & { childIds: string[] })[] = [];
  const above: string[][] = [];
  for (const [, tabs = '', bid, role = '', name = '', value, attributes = ''] of linesOf(text)) {
    const depth = Math.min(tabs.length, above.length);
    const nodeId = String(nodes.length + 1);
    const childIds: string[] = [];
    above[depth - 1]?.push(nodeId);
    above.splice(depth, above.length, childIds);
    nodes.push({
      nodeId,
      role: { value: role },
      name: { value: plain(name) },
      ...(value === undefined ? {} : { value: { value: plain(value) } }),
      properties: [...attributes.matchAll(attribute)]
        // The properties of elements tell which are clickable.
        .filter(([, key]) => key !== 'clickable')
        .map(([, key = '', said]) => ({
          name: key,
          value: { value: said === undefined ? true : plain(said) },
        })),
      childIds,
      ...(bid === undefined ? {} : { browsergym_id: bid }),
    });
  }
  return nodes.length === 0 ? {} : { nodes };
}

/** Leaves out a line that was cut at the end of a long tree. */
function linesOf(text: string): RegExpExecArray[] {
  return text
    .split('\n')
    .map((written) => line.exec(written))
    .filter((read) => read !== null);
}

function plain(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
}
