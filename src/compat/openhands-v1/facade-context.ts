/** What the routes of this facade share. */
import type { Executor } from '../../protocol/index.js';
import type { Say } from '../messages.js';
import type { Activity } from './activity.js';
import type { BashEvents } from './bash/bash-events.js';
import type { BashCommands } from './bash/commands.js';
import type { SessionKeys } from './session-key-check.js';

export interface FacadeContext {
  /** The executor of now. */
  executor(): Executor;
  /** As seen from inside. */
  readonly workspace: string;
  readonly keys: SessionKeys;
  readonly events: BashEvents;
  readonly commands: BashCommands;
  readonly activity: Activity;
  readonly say: Say;
}
