/** How we recognise our pods and their owner: as with containers, in the form that a cluster takes. */
import { ownLabels } from '../docker/labels.js';
import type { KubernetesOptions } from './kubernetes-options.js';

const ownerLabel = 'workcell.owner';
const homeLabel = 'workcell.home';
/** What a policy of the namespace selects the pod by. */
export const networkLabel = 'workcell.network';

/** A different one for each start, so that a start knows its pod among those that had or have the name. */
export const startLabel = 'workcell.start';

/** On a pod that waits for a cell: of which shape. */
export const poolLabel = 'workcell.pool';

/** What a pod carries besides its specification. */
export interface PodMarks {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Of a pod that waits for a cell. */
export function waitingMarks(shape: string, { network, annotations }: KubernetesOptions): PodMarks {
  return { labels: { [poolLabel]: shape, [networkLabel]: network }, annotations };
}

/** Of the pod of a cell. */
export function podMarks(cell: {
  readonly id: string;
  readonly options: KubernetesOptions;
  /** Where this machine keeps what it knows of the cell. */
  readonly home: string | undefined;
  /** Different for each start. */
  readonly start: string;
}): PodMarks {
  const { id, options, home, start } = cell;
  const { keepAlive, network } = options;
  const {
    [homeLabel]: path = '',
    [ownerLabel]: owner = '',
    ...own
  } = ownLabels({ id, keepAlive, home: home ?? '' });
  return {
    labels: { ...options.labels, ...own, [ownerLabel]: asLabel(owner), [networkLabel]: network },
    // A path is no value for a label.
    annotations: { ...options.annotations, [homeLabel]: path, [startLabel]: start },
  };
}

/** Selects the pods that this process started. */
export function ownSelector(): string {
  const { [ownerLabel]: owner = '', 'workcell.machine': machine } = ownLabels({
    id: '',
    keepAlive: false,
    home: '',
  });
  return `workcell.machine=${machine},${ownerLabel}=${asLabel(owner)}`;
}

/** A value of a label ends with a letter or a digit. */
function asLabel(owner: string): string {
  return `${owner}0`;
}
