/** The description of the API as one plain page, which loads nothing from elsewhere. */
import type { ActionTable } from '../../protocol/index.js';
import { openapiDocument } from './openapi.js';
import { routes } from './route-table.js';

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}code,pre{font:14px ui-monospace,monospace}pre{background:#f4f4f5;padding:1rem;overflow:auto}@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}pre{background:#222}a{color:#8bf}}';

export function docsPage(version: string, actions: ActionTable): string {
  const schemas = (openapiDocument(version, actions).components as { schemas: Record<string, unknown> })
    .schemas;
  const table = routes.map(
    ({ method, path, summary, query = {} }) =>
      `<h3><code>${method.toUpperCase()} ${toHtml(path)}</code></h3><p>${toHtml(summary)}</p>${list(query)}`,
  );
  const sections = Object.entries(actions).map(
    ([name, { summary }]) =>
      `<h3 id="${name}"><code>${name}</code></h3><p>${toHtml(summary)}</p>${schema('Action', schemas[`action.${name}`])}${schema('Observation', schemas[`observation.${name}`])}`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Workcell executor</title><style>${style}</style><h1>Workcell executor ${toHtml(version)}</h1><p>The same as <a href="/openapi.json">OpenAPI</a>. Every request carries <code>Authorization: Bearer &lt;token&gt;</code>.</p><h2>Routes</h2>${table.join('')}<h2>Actions</h2>${sections.join('')}</html>`;
}

function list(query: Readonly<Record<string, string>>): string {
  const entries = Object.entries(query).map(
    ([name, text]) =>
      `<li><code>${toHtml(name)}</code>: ${toHtml(text.replace(/^header:\s*/, 'header. '))}</li>`,
  );
  return entries.length === 0 ? '' : `<ul>${entries.join('')}</ul>`;
}

function schema(title: string, value: unknown): string {
  return `<details><summary>${title}</summary><pre>${toHtml(JSON.stringify(value, null, 2))}</pre></details>`;
}

function toHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
