/** A terminal of your own in the cell, beside those of the agent. It ends when you leave. */
import { useEffect, useRef, useState } from 'react';
import type { TerminalReply } from '../../../src/protocol/wire.js';
import { cellPath, openSocket } from '../api.js';
import { Problem } from './state.js';

export function TerminalPane({ cell }: { cell: string }) {
  const [open, setOpen] = useState(0);
  const [ended, setEnded] = useState<string>();
  if (open === 0 || ended !== undefined)
    return (
      <div className="empty">
        {ended === undefined ? (
          <>
            <h2>A shell in the workspace of this cell</h2>
            <p>It is recorded like everything else, and ends when you leave this page.</p>
          </>
        ) : (
          <Problem text={ended} />
        )}
        <button
          type="button"
          className="main"
          onClick={() => {
            setEnded(undefined);
            setOpen(open + 1);
          }}
        >
          Open a terminal
        </button>
      </div>
    );
  return <Screen key={open} cell={cell} onEnd={setEnded} />;
}

function Screen({ cell, onEnd }: { cell: string; onEnd: (reason: string) => void }) {
  const box = useRef<HTMLElement>(null);
  const tell = useRef(onEnd);
  tell.current = onEnd;
  useEffect(() => {
    const left = new AbortController();
    let close = () => {};
    void start(
      box.current as HTMLElement,
      cell,
      (reason) => left.signal.aborted || tell.current(reason),
    ).then((end) => {
      close = end;
      if (left.signal.aborted) end();
    });
    return () => {
      left.abort();
      close();
    };
  }, [cell]);
  return <section ref={box} className="shell" aria-label="Terminal" />;
}

/** The emulator draws terminal sequences, and none of them reaches the page. */
async function start(box: HTMLElement, cell: string, onEnd: (reason: string) => void): Promise<() => void> {
  const [{ Terminal }, { FitAddon }] = await Promise.all([
    import('@xterm/xterm'),
    import('@xterm/addon-fit'),
  ]);
  await import('@xterm/xterm/css/xterm.css');
  const styles = getComputedStyle(box);
  const terminal = new Terminal({
    fontFamily: styles.getPropertyValue('--mono'),
    fontSize: 13,
    cursorBlink: true,
    scrollback: 10_000,
    screenReaderMode: true,
    // A program in the cell must not name the page, open addresses or reach the clipboard.
    linkHandler: null,
    theme: {
      background: styles.backgroundColor,
      foreground: styles.color,
      cursor: styles.color,
    },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(box);
  fit.fit();
  const socket = openSocket(`${cellPath(cell)}/v1/terminals`);
  socket.binaryType = 'arraybuffer';
  const encoder = new TextEncoder();
  const say = (frame: object) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(frame));
  socket.onopen = () => say({ type: 'open', columns: terminal.cols, rows: terminal.rows });
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
    if (typeof data !== 'string') return terminal.write(new Uint8Array(data));
    const reply = JSON.parse(data) as TerminalReply;
    if (reply.type === 'opened') return terminal.focus();
    // What the terminal says itself is why the connection closes next.
    socket.onclose = null;
    if (reply.type === 'exit')
      onEnd(`The shell ended with ${reply.signal ?? `exit code ${reply.exitCode}`}.`);
    if (reply.type === 'error')
      onEnd((reply.error as { message?: string }).message ?? 'The terminal failed.');
  };
  socket.onclose = () => onEnd('The connection to the terminal is closed.');
  terminal.onData((text) => socket.readyState === WebSocket.OPEN && socket.send(encoder.encode(text)));
  terminal.onResize(({ cols, rows }) => say({ type: 'resize', columns: cols, rows }));
  const observer = new ResizeObserver(() => fit.fit());
  observer.observe(box);
  return () => {
    observer.disconnect();
    socket.onclose = null;
    socket.close();
    terminal.dispose();
  };
}
