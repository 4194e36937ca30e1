/** The files of a cell: a tree, a viewer, and downloads. */
import { useEffect, useState } from 'react';
import type { FileEntry } from '../../../src/protocol/actions/files.js';
import { changeQuery, usePlace } from '../address.js';
import { act, cellPath, reasonOf, send } from '../api.js';
import { bytes, moment } from '../format.js';
import { picturesOf } from './pictures.js';
import { Empty, Problem } from './state.js';
import { Block, Mono, Plain } from './text.js';

export function FilesPane({ cell, root = '.' }: { cell: string; root: string | undefined }) {
  const { query } = usePlace();
  const path = query.get('path') ?? undefined;
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const downloadAll = async () => {
    setProblem(undefined);
    setBusy(true);
    try {
      await download(cell, root, 'zip');
    } catch (error) {
      setProblem(reasonOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className={`split ${path === undefined ? '' : 'has-choice'}`}>
      <section className="left" aria-label="Files">
        <div className="tools small">
          <Mono value={root} />
          <span className="space" />
          <button type="button" disabled={busy} onClick={() => void downloadAll()}>
            {busy ? 'Reading…' : 'Download all'}
          </button>
        </div>
        {problem !== undefined && <Problem text={problem} />}
        <div className="tree">
          <Folder cell={cell} path={root} chosen={path} />
        </div>
      </section>
      <section className="right" aria-label="File">
        {path === undefined ? (
          <Empty title="Choose a file to see what is in it." />
        ) : (
          <Viewer key={path} cell={cell} path={path} />
        )}
      </section>
    </div>
  );
}

const mostShown = 2000;

function Folder({ cell, path, chosen }: { cell: string; path: string; chosen: string | undefined }) {
  const [entries, setEntries] = useState<readonly FileEntry[]>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    act<{ entries: FileEntry[] }>(cell, { action: 'list', path }).then(
      (listed) => setEntries(listed.entries),
      (error: unknown) => setProblem(reasonOf(error)),
    );
  }, [cell, path]);
  if (problem !== undefined) return <Problem text={problem} />;
  if (entries === undefined) return <p className="hint">Reading…</p>;
  if (entries.length === 0) return <p className="hint">Empty.</p>;
  const sorted = entries.toSorted((left, right) => rank(left) - rank(right));
  return (
    <ul>
      {sorted.slice(0, mostShown).map((entry) => (
        <Item key={entry.name} cell={cell} entry={entry} path={`${path}/${entry.name}`} chosen={chosen} />
      ))}
      {sorted.length > mostShown && <li className="hint">{sorted.length - mostShown} more</li>}
    </ul>
  );
}

interface ItemProps {
  readonly cell: string;
  readonly entry: FileEntry;
  readonly path: string;
  readonly chosen: string | undefined;
}

function Item({ cell, entry, path, chosen }: ItemProps) {
  const [open, setOpen] = useState(chosen?.startsWith(`${path}/`) ?? false);
  const isFolder = entry.type === 'directory';
  return (
    <li>
      <button
        type="button"
        className="item"
        aria-expanded={isFolder ? open : undefined}
        aria-current={path === chosen ? 'true' : undefined}
        onClick={() => (isFolder ? setOpen(!open) : changeQuery({ path }))}
      >
        <span className="twist" aria-hidden="true">
          {isFolder ? (open ? '▾' : '▸') : ''}
        </span>
        <Mono value={entry.name} />
        {entry.target !== undefined && (
          <span className="hint">
            {' → '}
            <Plain value={entry.target} />
          </span>
        )}
        <span className="space" />
        {entry.type === 'file' && <span className="hint num">{bytes(entry.sizeBytes)}</span>}
      </button>
      {open && <Folder cell={cell} path={path} chosen={chosen} />}
    </li>
  );
}

interface Content {
  readonly content: string;
  readonly encoding: 'utf8' | 'base64';
  readonly mediaType: string;
  readonly sizeBytes: number;
}

const mostBytes = 2_000_000;

function Viewer({ cell, path }: { cell: string; path: string }) {
  const [content, setContent] = useState<Content>();
  const [entry, setEntry] = useState<FileEntry>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const fail = (error: unknown) => setProblem(reasonOf(error));
    act<Content>(cell, { action: 'read', path, maxBytes: mostBytes }).then(setContent, fail);
    act<FileEntry>(cell, { action: 'stat', path }).then(setEntry, fail);
  }, [cell, path]);
  const pictures =
    content?.encoding === 'base64'
      ? picturesOf({ outputs: [{ data: { [content.mediaType]: content.content } }], screenshot: undefined })
      : [];
  return (
    <div className="details">
      <div className="tools small">
        <button
          type="button"
          className="quiet"
          onClick={() => changeQuery({ path: undefined })}
          aria-label="Close the file"
        >
          ←
        </button>
        <Mono value={path} />
        <span className="space" />
        <button
          type="button"
          onClick={() => void download(cell, path).catch((error) => setProblem(reasonOf(error)))}
        >
          Download
        </button>
      </div>
      {entry !== undefined && (
        <p className="hint">
          {bytes(entry.sizeBytes)} · {moment(entry.modifiedAt)} · {entry.mode.toString(8).padStart(3, '0')}
          {content !== undefined && ` · ${content.mediaType}`}
        </p>
      )}
      {problem !== undefined && <Problem text={problem} />}
      {content?.encoding === 'utf8' && <Block label={path} value={content.content} />}
      {pictures.map((source) => (
        <img key={path} className="picture" src={source} alt={`The file ${path}`} />
      ))}
      {content?.encoding === 'base64' && pictures.length === 0 && (
        <Empty title="This file is not text.">
          <p>Download it to look at it.</p>
        </Empty>
      )}
    </div>
  );
}

/** Fetches the bytes with the key and hands them over as a file; the page never opens them. */
async function download(cell: string, path: string, format?: 'zip'): Promise<void> {
  const query = new URLSearchParams({ path, ...(format !== undefined && { format }) });
  const response = await send(`${cellPath(cell)}/v1/files?${query}`);
  const name = path.split('/').filter(Boolean).at(-1) ?? 'files';
  saveAs(await response.blob(), format === undefined ? name : `${name}.${format}`);
}

export function saveAs(content: Blob, name: string): void {
  // A type that no browser opens by itself.
  const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function rank({ type }: FileEntry): number {
  return type === 'directory' ? 0 : 1;
}
