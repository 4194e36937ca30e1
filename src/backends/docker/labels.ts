/** How we recognise our containers, and their owner. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { ownName } from '../../base/own-directory.js';
import { isAbandoned, ownedPrefix } from '../../cell/launchers/scratch.js';

export const idLabel = 'workcell.id';
const ownerLabel = 'workcell.owner';
const machineLabel = 'workcell.machine';
const keepLabel = 'workcell.keep-alive';
const homeLabel = 'workcell.home';
/** The backend, where that is another than docker. */
export const backendLabel = 'workcell.backend';
const ownNames = [idLabel, ownerLabel, machineLabel, keepLabel, homeLabel, backendLabel];

/** Selects cells that somebody keeps; `isKept` says whether it is this user. */
export const keptSelector = `${keepLabel}=true`;
/** Selects cells that end with their owner. */
export const ownedSelector = `${keepLabel}=false`;

type Labels = Readonly<Record<string, string>>;

export function ownLabels(cell: { id: string; keepAlive: boolean; home: string }): Record<string, string> {
  return {
    [idLabel]: cell.id,
    [ownerLabel]: ownedPrefix(),
    [machineLabel]: machine(),
    [keepLabel]: String(cell.keepAlive),
    [homeLabel]: cell.home,
  };
}

/** True when no process remains to end it. We cannot look up owners on other machines from here. */
export function isOrphan(labels: Labels): boolean {
  return (
    labels[keepLabel] === 'false' &&
    labels[machineLabel] === machine() &&
    isAbandoned(labels[ownerLabel] ?? '')
  );
}

/** Several people may use an engine; each sees only their own cells. */
export function isKept(labels: Labels): boolean {
  return labels[keepLabel] === 'true' && labels[ownerLabel]?.startsWith(`${ownName()}-`) === true;
}

export function backendOf(labels: Labels): string {
  return labels[backendLabel] ?? 'docker';
}

/** The labels that the user gave. */
export function givenLabels(labels: Labels): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !ownNames.includes(name)));
}

export function homeOf(labels: Labels): string | undefined {
  return labels[homeLabel];
}

function machine(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return hostname();
  }
}
