/** What Ctrl-C and requests to end mean to a command line that has something running elsewhere. */

export interface Interrupts extends Disposable {
  /** Aborts when it is time to give up. */
  readonly signal: AbortSignal;
  /** The exit code that the way of giving up asks for. */
  exitCode(): number | undefined;
  /** From here on the first Ctrl-C is passed on; the second gives up. Before, the first one does. */
  forward(send: () => Promise<unknown>): void;
  abort(exitCode: number): void;
}

export function watchInterrupts(): Interrupts {
  const controller = new AbortController();
  let exitCode: number | undefined;
  let send: (() => Promise<unknown>) | undefined;

  function abort(code: number) {
    exitCode ??= code;
    controller.abort();
  }

  const handlers = {
    SIGINT() {
      const first = send;
      send = undefined;
      if (first === undefined) abort(130);
      else first().catch(() => abort(130));
    },
    SIGTERM: () => abort(143),
    SIGHUP: () => abort(129),
  };
  for (const [name, handler] of Object.entries(handlers)) process.on(name, handler);

  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    forward(sender) {
      send = sender;
    },
    abort,
    [Symbol.dispose]() {
      for (const [name, handler] of Object.entries(handlers)) process.off(name, handler);
    },
  };
}
