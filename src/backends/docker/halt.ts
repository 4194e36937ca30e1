/** Pauses and resumes a container. */
import type { Container } from '../engines/docker-client.js';

export interface Halt {
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** While it is paused: settles when it resumes. */
  halted(): Promise<void> | undefined;
}

export function createHalt(container: Container): Halt {
  let current: { over: Promise<void>; end(): void } | undefined;
  return {
    halted: () => current?.over,
    async pause() {
      if (current !== undefined) return;
      let end = () => {};
      const over = new Promise<void>((resolve) => {
        end = resolve;
      });
      current = { over, end };
      try {
        await container.pause();
      } catch (error) {
        current = undefined;
        end();
        throw error;
      }
    },
    async resume() {
      if (current === undefined) return;
      await container.unpause();
      current.end();
      current = undefined;
    },
  };
}
