/** What Ctrl-C and requests to end do to a command line with work in progress elsewhere. */

export interface Interrupts extends Disposable {
  /** Aborts when it is time to cancel. */
  readonly signal: AbortSignal;
  /** The exit code for the way in which it was cancelled. */
  exitCode(): number | undefined;
  /** From here on the first Ctrl-C goes to the command and the second cancels. Before, the first one cancels. */
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
