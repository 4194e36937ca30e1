/** The tools of a server as an OpenAPI document, and as a page for people that loads nothing from elsewhere. */
import { packageVersion } from '../../base/package-version.js';
import type { ServedTool } from './camel-app.js';

export function describeApi(tools: readonly ServedTool[]): object {
  const distinct = new Map([...tools].reverse().map((tool) => [tool.name, tool]));
  return {
    openapi: '3.1.0',
    info: { title: 'Tools in a cell', version: packageVersion() },
    paths: {
      '/health': { get: { summary: 'Health Check', responses: { 200: { description: 'OK' } } } },
      ...Object.fromEntries(
        [...distinct.values()].reverse().map((tool) => [`/${tool.name}`, describeTool(tool)]),
      ),
    },
  };
}

function describeTool({ name, description, parameters }: ServedTool): object {
  const body = {
    type: 'object',
    required: ['args', 'kwargs'],
    properties: {
      args: { type: 'array', description: 'Arguments by position.' },
      kwargs: { ...parameters, required: [], description: 'Arguments by name.' },
      redirect_stdout: { type: 'boolean', default: false },
    },
  };
  const answer = {
    type: 'object',
    required: ['output'],
    properties: {
      output: { type: 'string', description: 'The result as JSON.' },
      stdout: { type: 'string', description: 'What was printed, where it was asked for.' },
    },
  };
  return {
    post: {
      operationId: name,
      summary: description.split('\n', 1)[0],
      description,
      requestBody: { required: true, content: { 'application/json': { schema: body } } },
      responses: {
        200: { description: 'OK', content: { 'application/json': { schema: answer } } },
        422: { description: 'The body is no JSON object.' },
        500: { description: 'The call failed; error_message says why.' },
      },
    },
  };
}

export function describePage(tools: readonly ServedTool[]): string {
  const entries = tools.map(
    ({ name, description, parameters }) =>
      `<h2>POST /${escapeHtml(name)}</h2>\n<p>${escapeHtml(description)}</p>\n<pre>${escapeHtml(JSON.stringify(parameters, undefined, 2))}</pre>`,
  );
  return `<!doctype html>
<html lang="en">
<title>Tools in a cell</title>
<style>body { font: 15px/1.5 sans-serif; max-width: 50em; margin: 2em auto; padding: 0 1em } p, pre { white-space: pre-wrap }</style>
<h1>Tools in a cell</h1>
<p>Send {"args": […], "kwargs": {…}}; the answer has the result as JSON text in "output". <a href="openapi.json">OpenAPI</a></p>
${entries.join('\n')}
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
