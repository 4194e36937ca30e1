/** What a template would take from the safety of a cell. */
import { WorkcellError } from '../../protocol/index.js';
import type { KubernetesOptions } from './kubernetes-options.js';
import { cellContainer, executorContainer } from './pod.js';

type Asked = Pick<KubernetesOptions, 'template' | 'annotations' | 'allowWeakTemplate'>;
type Part = Readonly<Record<string, unknown>>;

/** Refuses what weakens the cell, by its place in the template, unless the options allow it. */
export function checkTemplate(options: Asked): void {
  const commands = ownContainers(options).flatMap(([place, container]) =>
    ['command', 'args'].filter((name) => container[name] !== undefined).map((name) => `${place}.${name}`),
  );
  if (commands.length > 0)
    throw new WorkcellError(
      'invalid-config',
      `The template sets ${commands.join(', ')}, and these containers run the executor. Leave it out.`,
      { details: { places: commands } },
    );
  const places = weaknessesOf(options);
  if (places.length === 0 || options.allowWeakTemplate) return;
  throw new WorkcellError(
    'invalid-config',
    `The template weakens the isolation of the cell: ${places.join(', ')}. Leave these out, or allow them with allowWeakTemplate; the facts of the cell then say that they are not enforced.`,
    { details: { places } },
  );
}

/** The places in the template that weaken the cell. Empty for one that only adds. */
export function weaknessesOf({ template, annotations }: Omit<Asked, 'allowWeakTemplate'>): string[] {
  const spec = part(template.spec);
  return [
    ...['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'automountServiceAccountToken']
      .filter((name) => spec[name] === true)
      .map((name) => `spec.${name}`),
    ...inSecurity('spec.securityContext', spec.securityContext),
    ...list(spec.volumes).flatMap((volume, index) => inVolume(`spec.volumes[${index}]`, volume)),
    ...containersIn(spec).flatMap(([place, container]) => inContainer(place, container)),
    ...Object.entries({ ...part(part(template.metadata).annotations), ...annotations })
      .filter(([name, value]) => profile.test(name) && value === 'unconfined')
      .map(([name]) => `annotation ${name}`),
  ];
}

/** The older way to name an AppArmor profile. */
const profile = /^container\.apparmor\.security\.beta\.kubernetes\.io\//;

function inVolume(place: string, volume: Part): string[] {
  const sources = list(part(volume.projected).sources);
  return [
    ...(volume.hostPath === undefined ? [] : [`${place}.hostPath`]),
    ...(sources.some((source) => source.serviceAccountToken !== undefined)
      ? [`${place}.projected.serviceAccountToken`]
      : []),
  ];
}

function inContainer(place: string, container: Part): string[] {
  return [
    ...inSecurity(`${place}.securityContext`, container.securityContext),
    ...(list(container.volumeDevices).length > 0 ? [`${place}.volumeDevices`] : []),
    ...(list(container.ports).some(({ hostPort }) => hostPort !== undefined)
      ? [`${place}.ports.hostPort`]
      : []),
  ];
}

/** Of a pod or of a container. */
function inSecurity(place: string, given: unknown): string[] {
  const context = part(given);
  const { supplementalGroups, sysctls, procMount } = context;
  const weak: Readonly<Record<string, boolean>> = {
    privileged: context.privileged === true,
    allowPrivilegeEscalation: context.allowPrivilegeEscalation === true,
    runAsNonRoot: context.runAsNonRoot === false,
    runAsUser: context.runAsUser === 0,
    runAsGroup: context.runAsGroup === 0,
    fsGroup: context.fsGroup === 0,
    supplementalGroups: Array.isArray(supplementalGroups) && supplementalGroups.includes(0),
    'capabilities.add': isFilled(part(context.capabilities).add),
    'seccompProfile.type': part(context.seccompProfile).type === 'Unconfined',
    'appArmorProfile.type': part(context.appArmorProfile).type === 'Unconfined',
    seLinuxOptions: context.seLinuxOptions !== undefined,
    sysctls: isFilled(sysctls),
    procMount: procMount !== undefined && procMount !== 'Default',
  };
  return Object.keys(weak)
    .filter((name) => weak[name])
    .map((name) => `${place}.${name}`);
}

function ownContainers({ template }: Pick<Asked, 'template'>): [string, Part][] {
  return containersIn(part(template.spec)).filter(
    ([, { name }]) => name === cellContainer || name === executorContainer,
  );
}

function containersIn(spec: Part): [string, Part][] {
  return ['initContainers', 'containers'].flatMap((kind) =>
    list(spec[kind]).map((container): [string, Part] => [
      `spec.${kind}[${String(container.name)}]`,
      container,
    ]),
  );
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function list(value: unknown): Part[] {
  return Array.isArray(value) ? value.map(part) : [];
}

function part(value: unknown): Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Part) : {};
}
