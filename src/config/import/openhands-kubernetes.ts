/** The section [kubernetes] of OpenHands' file, as options of the backend of that name. */
import { parse } from 'yaml';
import { isTable } from '../plain-table.js';
import type { Mapping, Output } from './import-output.js';

/** What the option becomes, or why it cannot. */
type Change = (value: unknown) => { readonly set: unknown } | { readonly reason: string };

/** An option of the kubernetes backend; not one that is unset. */
const option =
  (name: string, change: Change = (value) => ({ set: value })): Mapping =>
  (value, output) => {
    if (value === undefined || value === null || value === '') return undefined;
    if (output.backend !== 'kubernetes') return 'it holds for runtime = "kubernetes" only';
    const changed = change(value);
    if ('reason' in changed) return changed.reason;
    output.set(`backends.kubernetes.${name}`, changed.set);
    return undefined;
  };

export const kubernetesKeys: Readonly<Record<string, Mapping>> = {
  namespace: option('namespace'),
  ingress_domain: (value, output) =>
    // Its default, which leads nowhere.
    value === 'localhost' ? undefined : option('ingress.domain')(value, output),
  ingress_tls_secret: option('ingress.tls_secret'),
  pvc_storage_size: option('volume.size'),
  pvc_storage_class: option('volume.storage_class'),
  resource_cpu_request: option('requests.cpus', (value) => numberOf(value, cpusOf)),
  resource_memory_request: option('requests.memory_bytes', (value) => numberOf(value, bytesOf)),
  resource_memory_limit: option('limits.memory_bytes', (value) => numberOf(value, bytesOf)),
  image_pull_secret: option('image_pull_secrets', (value) => ({ set: [value] })),
  node_selector_key: (value, output) => pair(value, output, 'key'),
  node_selector_val: (value, output) => pair(value, output, 'value'),
  tolerations_yaml: option('tolerations', tolerations),
  privileged: (value) =>
    value === true ? 'a cell is never privileged; give what it needs by the option template' : undefined,
};

/** A selector has two keys there, and one does nothing without the other. */
const halves = new WeakMap<Output, { key?: string; value?: string }>();

function pair(value: unknown, output: Output, half: 'key' | 'value'): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  if (output.backend !== 'kubernetes') return 'it holds for runtime = "kubernetes" only';
  const both = { ...halves.get(output), [half]: value };
  halves.set(output, both);
  if (both.key !== undefined && both.value !== undefined)
    output.set('backends.kubernetes.node_selector', both.value, both.key);
  return undefined;
}

function numberOf(value: unknown, read: (text: string) => number | undefined): ReturnType<Change> {
  const number = read(String(value).trim());
  return number === undefined ? { reason: `${JSON.stringify(value)} is not a quantity` } : { set: number };
}

function cpusOf(text: string): number | undefined {
  const [, number, milli] = /^(\d+(?:\.\d+)?)(m?)$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) / (milli === 'm' ? 1000 : 1);
}

const units = ['', 'k', 'M', 'G', 'T', 'P'];

function bytesOf(text: string): number | undefined {
  const [, number, unit = '', binary] = /^(\d+(?:\.\d+)?)([kKMGTP]?)(i?)$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  const power = units.indexOf(unit === 'K' ? 'k' : unit);
  return Math.round(Number(number) * (binary === 'i' ? 1024 : 1000) ** power);
}

/** A list as text, whose keys are those of the Python client: with underscores. */
function tolerations(value: unknown): ReturnType<Change> {
  try {
    const list: unknown = parse(String(value));
    if (Array.isArray(list) && list.every(isTable)) return { set: list.map(inCamelCase) };
  } catch {
    // The same as what is no list.
  }
  return { reason: 'it is not a list in YAML, and OpenHands ignores it too' };
}

function inCamelCase(toleration: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(toleration);
  return Object.fromEntries(
    entries.map(([key, value]) => [key.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase()), value]),
  );
}
