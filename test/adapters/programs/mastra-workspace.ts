/** A real Mastra workspace with the runtime as its sandbox: the tool that its agents get, called as they call it. */
import assert from 'node:assert/strict';
import { WorkcellMastraSandbox } from '../../../src/adapters/mastra.js';
import { framework } from '../frameworks.js';
import { runtimeWithTool } from '../runtime.js';

// biome-ignore lint/suspicious/noExplicitAny: the package is not there when this is compiled
const { Workspace, createWorkspaceTools } = framework('@mastra/core/workspace') as any;

await using runtime = await runtimeWithTool();
const workspace = new Workspace({ sandbox: new WorkcellMastraSandbox(runtime) });
await workspace.init();
const tools = await createWorkspaceTools(workspace);
const execute = tools.mastra_workspace_execute_command;
assert.ok(execute, `no command among ${Object.keys(tools)}`);
const answer = await execute.execute({ command: 'echo "from the cell"; pwd' }, { workspace });
assert.match(String(answer), /from the cell/);
assert.ok(String(answer).includes(runtime.workspace));
const failed = await execute.execute({ command: 'echo no >&2; exit 3' }, { workspace });
assert.match(String(failed), /no[\s\S]*3/);
