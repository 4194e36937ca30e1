/** What a vendor's sandbox must be able to do, so that our executor can start in it and be reached. */
export interface VendorSandbox {
  /** The vendor's own. */
  readonly id: string;
  /** The one that the executor must listen on, where ports are opened when the sandbox is made. */
  readonly port?: number;
  /** Settles when it runs, where the vendor names a sandbox before that. */
  ready?(): Promise<void>;
  /** Runs shell source to its end. */
  run(command: string): Promise<{ readonly exitCode: number; readonly output: string }>;
  /** Writes a file at an absolute path; its directory is there. */
  write(path: string, content: Buffer): Promise<void>;
  /** How requests come to a port of it. */
  address(port: number): Promise<PortAddress>;
  /** Ends it. Succeeds when it is gone already. */
  end(): Promise<void>;
  /** Closes what its client holds open, where nobody here works in it any more and it goes on. */
  leave?(): void;
  /** Tells the vendor that somebody still works in it, where sandboxes end by themselves. */
  extend?(): Promise<void>;
  pause?(): Promise<void>;
  resume?(): Promise<void>;
}

interface PortAddress {
  readonly url: string;
  /** What every request must carry. */
  readonly headers: Readonly<Record<string, string>>;
  /** The name that requests arrive under. */
  readonly host: string;
}

/** Labels by which cells are found again. Vendors take letters, digits and hyphens in names. */
export const idLabel = 'workcell-id';
export const keptLabel = 'workcell-kept';
