/**
 * The schema, as the steps that lead to it; `user_version` counts those done. Never change a published step: add a new
 * one.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE events (
    runtime TEXT NOT NULL,
    id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    source TEXT NOT NULL,
    cause INTEGER,
    body TEXT NOT NULL,
    texts TEXT,
    PRIMARY KEY (runtime, id)
  ) WITHOUT ROWID;

  CREATE TABLE texts (
    digest TEXT PRIMARY KEY,
    json TEXT NOT NULL
  );

  CREATE TABLE text_uses (
    digest TEXT NOT NULL,
    runtime TEXT NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (digest, runtime, id)
  ) WITHOUT ROWID;

  CREATE TABLE compactions (at INTEGER NOT NULL);
  `,
  `
  CREATE TABLE notes (
    id TEXT PRIMARY KEY,
    runtime TEXT NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    body TEXT NOT NULL,
    reply TEXT
  ) WITHOUT ROWID;

  CREATE TABLE ledger (
    sequence INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    line TEXT NOT NULL
  );

  CREATE TABLE ledger_head (sequence INTEGER NOT NULL, hash TEXT NOT NULL);
  `,
];
