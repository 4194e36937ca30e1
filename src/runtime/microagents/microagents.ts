/** The microagents that apply to the work in a runtime; their reader loads on first use. */

import type { RuntimeGit } from '../git/runtime-git.js';
import type { Call } from '../verb-call.js';
import type { LoadMicroagentsOptions } from './load-microagents.js';
import type { LoadedMicroagents } from './loaded.js';

/** Reads the microagents that hold for a workspace. */
export class RuntimeMicroagents {
  readonly #call: Call;
  readonly #git: () => RuntimeGit;

  constructor(call: Call, git: () => RuntimeGit) {
    this.#call = call;
    this.#git = git;
  }

  /** Reads all of them. Unusable files go to `problems` and hide no others. */
  async load(options: LoadMicroagentsOptions = {}): Promise<LoadedMicroagents> {
    const { loadMicroagents } = await import('./load-microagents.js');
    return loadMicroagents(this.#call, this.#git(), options);
  }
}
