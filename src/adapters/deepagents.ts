/**
 * A runtime as the sandbox backend of deepagents. It fits the package's types by shape, so it does not need the
 * package.
 */
import { posix } from 'node:path';
import { type FileEntry, type Observation, type Runtime, WorkcellError } from '../index.js';
import { wholeFile } from '../runtime/tools/whole-file.js';

interface FileInfo {
  path: string;
  is_dir: boolean;
  size: number;
  modified_at: string;
}

type TransferError = 'file_not_found' | 'permission_denied' | 'is_directory' | 'invalid_path';

/** Lines of a file that one `read` returns by default. */
const defaultLines = 500;

/** deepagents knows of no omitted files. */
const everything = { hidden: true, ignored: true };

/** What `createDeepAgent` takes as `backend`: a `SandboxBackendProtocolV2`, with files handled by the runtime itself. */
export class WorkcellSandbox {
  readonly id: string;
  readonly #runtime: Runtime;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.id = runtime.id;
  }

  /** Every command starts in the workspace, without the state of the previous one. */
  async execute(command: string) {
    const { processes } = this.#runtime;
    const { id } = await processes.start(`exec 2>&1\n${command}`);
    const { stdout, exitCode, truncated } = await processes.wait(id, { maxOutputBytes: 131_072 });
    return { output: stdout, exitCode, truncated };
  }

  ls(path: string) {
    return orError(async () => {
      const entries = await this.#runtime.files.list(path);
      return { files: entries.map((entry) => this.#toInfo(entry, posix.join(path, entry.name))) };
    });
  }

  /** Text from line `offset`, counted from 0; anything else whole, as bytes. */
  read(filePath: string, offset = 0, limit = defaultLines) {
    return orError(async () => {
      const found = await this.#readLines(filePath, offset + 1, offset + limit);
      const { totalLines, endLine, startLine } = found;
      const rest = endLine !== undefined && totalLines !== undefined && endLine < totalLines;
      return {
        ...contentOf(found),
        ...(totalLines !== undefined && { totalLines }),
        ...(startLine !== undefined && { startLine }),
        ...(endLine !== undefined && { endLine }),
        ...(rest && { nextOffset: endLine }),
      };
    });
  }

  readRaw(filePath: string) {
    return orError(async () => {
      const found = await this.#runtime.read(filePath);
      const modified = new Date((await this.#runtime.files.stat(filePath)).modifiedAt).toISOString();
      return {
        data: { ...contentOf(found), created_at: modified, modified_at: modified },
      };
    });
  }

  /** Looks for plain text, as deepagents promises its models. */
  grep(pattern: string, path?: string | null, glob?: string | null, maxCount?: number | null) {
    return orError(async () => {
      const { matches, truncated } = await this.#runtime.execute({
        action: 'grep',
        pattern,
        literal: true,
        ...everything,
        path: path ?? this.#runtime.workspace,
        glob: glob ?? undefined,
        limit: maxCount ?? undefined,
      });
      const found = matches.map(({ path: file, line, text }) => ({ path: this.#absolute(file), line, text }));
      return { matches: found, truncated };
    });
  }

  glob(pattern: string, path = this.#runtime.workspace) {
    return orError(async () => {
      const action = { action: 'glob', pattern: anchored(pattern), path } as const;
      const { paths, truncated } = await this.#runtime.execute({ ...action, ...everything });
      const found = await Promise.all(
        paths.map(async (file) => this.#toInfo(await this.#runtime.files.stat(file), this.#absolute(file))),
      );
      return { files: found, truncated };
    });
  }

  write(filePath: string, content: string) {
    return orError(async () => {
      await this.#runtime.write(filePath, content);
      return { path: filePath, filesUpdate: null };
    });
  }

  edit(filePath: string, oldString: string, newString: string, replaceAll = false) {
    return orError(async () => {
      const step = { oldText: oldString, newText: newString, replaceAll };
      const { changes } = await this.#runtime.edit(filePath, step);
      return { path: filePath, filesUpdate: null, occurrences: changes };
    });
  }

  delete(filePath: string) {
    return orError(async () => {
      await this.#runtime.files.remove(filePath, { recursive: true });
      return { path: filePath, filesUpdate: null };
    });
  }

  /** A failing file does not hold the others up. */
  uploadFiles(files: [string, Uint8Array][]) {
    return Promise.all(
      files.map(async ([path, content]) => ({
        path,
        error: await transferError(async () => void (await this.#runtime.files.upload(content, path))),
      })),
    );
  }

  downloadFiles(paths: string[]) {
    return Promise.all(
      paths.map(async (path) => {
        let content: Uint8Array | null = null;
        const error = await transferError(async () => {
          content = new Uint8Array(await wholeFile(await this.#runtime.files.download(path), path));
        });
        return { path, content, error };
      }),
    );
  }

  /** Only text has lines to choose from; anything else comes whole. */
  async #readLines(path: string, startLine: number, endLine: number): Promise<Observation<'read'>> {
    try {
      return await this.#runtime.read(path, { startLine, endLine });
    } catch (error) {
      if (!WorkcellError.isInstance(error) || error.code !== 'invalid-action') throw error;
      const whole = await this.#runtime.read(path);
      if (whole.encoding === 'base64') return whole;
      throw error;
    }
  }

  #absolute(path: string): string {
    return posix.resolve(this.#runtime.workspace, path);
  }

  #toInfo({ type, sizeBytes, modifiedAt }: Omit<FileEntry, 'name'>, path: string): FileInfo {
    const is_dir = type === 'directory';
    return { path, is_dir, size: sizeBytes, modified_at: new Date(modifiedAt).toISOString() };
  }
}

/** deepagents tells text from the rest by its type alone, and knows few types of text. */
function contentOf({ content, encoding, mediaType }: Observation<'read'>) {
  if (encoding === 'base64')
    return { content: new Uint8Array(Buffer.from(content, 'base64')), mimeType: mediaType };
  return { content, mimeType: mediaType.startsWith('text/') ? mediaType : 'text/plain' };
}

/** deepagents matches patterns from the folder on, also those without a slash. */
function anchored(pattern: string): string {
  return pattern.includes('/') ? pattern : `/${pattern}`;
}

/** deepagents tells its model of failures as values. */
async function orError<Value extends object>(work: () => Promise<Value>): Promise<Value | { error: string }> {
  try {
    return await work();
  } catch (error) {
    if (!WorkcellError.isInstance(error)) throw error;
    return { error: `${error.code}: ${error.message}` };
  }
}

const transferErrors: Partial<Record<string, TransferError>> = {
  'not-found': 'file_not_found',
  'permission-denied': 'permission_denied',
  denied: 'permission_denied',
  'not-a-file': 'is_directory',
};

async function transferError(work: () => Promise<void>): Promise<TransferError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!WorkcellError.isInstance(error)) throw error;
    return transferErrors[error.code] ?? 'invalid_path';
  }
}
