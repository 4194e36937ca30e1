import { type ClusterClient, ClusterRefusal } from './cluster-client.js';
import { podPath } from './objects.js';

export interface NamedPod {
  readonly namespace: string;
  readonly name: string;
  /** Another pod may have the name by now. */
  readonly uid: string | undefined;
}

/** Also removes what it owns. Succeeds when it no longer exists. */
export async function removePod(client: ClusterClient, { namespace, name, uid }: NamedPod): Promise<void> {
  if (uid === undefined) return;
  try {
    await client.ask('DELETE', podPath(namespace, name), {
      body: {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        gracePeriodSeconds: 0,
        propagationPolicy: 'Background',
        preconditions: { uid },
      },
    });
  } catch (error) {
    if (error instanceof ClusterRefusal && (error.status === 404 || error.status === 409)) return;
    throw error;
  }
}
