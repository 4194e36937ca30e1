import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkout, readText } from '../house/source.js';

interface Workflow {
  readonly on: { readonly push: { readonly tags: string[] } };
  readonly permissions: object;
  readonly jobs: {
    readonly gate: { readonly permissions?: object; readonly steps: Step[] };
    readonly publish: { readonly needs: string; readonly permissions: object; readonly steps: Step[] };
  };
}
interface Step {
  readonly run?: string;
}

const text = readText('.github/workflows/publish.yml');
const workflow = parse(text) as Workflow;
const { gate, publish } = workflow.jobs;
const commandsOf = ({ steps }: { steps: Step[] }) => steps.flatMap(({ run }) => run ?? []);
const commands = commandsOf(publish);

const { version, scripts } = JSON.parse(readText('package.json')) as {
  version: string;
  scripts: Record<string, string>;
};

test('a release can prove its sources, and holds no secret', () => {
  expect(workflow.on).toEqual({ push: { tags: ['v*'] } });
  expect(workflow.permissions).toEqual({ contents: 'read' });
  expect(publish.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
  expect(commands.at(-1)).toBe('npm publish --provenance --access public');
  expect(text).not.toMatch(/secrets\.|TOKEN|registry/);
});

test('nothing is released that the gate does not pass, and the gate cannot release', () => {
  expect(publish.needs).toBe('gate');
  expect(commandsOf(gate).at(-1)).toBe('npm run -s release-gate');
  expect(gate.permissions).toBeUndefined();
});

test('a release runs scripts that there are', () => {
  const named = [...commandsOf(gate), ...commands].flatMap((command) => [
    ...command.matchAll(/npm run (?:-s )?([\w:-]+)/g),
  ]);
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter(([, name = '']) => !(name in scripts))).toEqual([]);
});

test('a tag that does not name the version stops a release', () => {
  const [check = ''] = commands.filter((command) => command.includes('GITHUB_REF_NAME'));
  const status = (tag: string) =>
    spawnSync('bash', ['-c', check], { cwd: checkout, env: { ...process.env, GITHUB_REF_NAME: tag } }).status;
  expect(status(`v${version}`)).toBe(0);
  expect(status('v0.0.0')).toBe(1);
});
