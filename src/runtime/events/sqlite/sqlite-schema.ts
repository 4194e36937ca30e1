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
  // A table without row ids keeps whole rows in the tree that a search walks, and SQLite reads a long row to its end to
  // compare its key: one large event makes every append slow. With row ids the tree of keys holds keys alone.
  `
  CREATE TABLE events_with_row_ids (
    runtime TEXT NOT NULL,
    id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    source TEXT NOT NULL,
    cause INTEGER,
    body TEXT NOT NULL,
    texts TEXT,
    PRIMARY KEY (runtime, id)
  );
  INSERT INTO events_with_row_ids SELECT * FROM events;
  DROP TABLE events;
  ALTER TABLE events_with_row_ids RENAME TO events;

  CREATE TABLE notes_with_row_ids (
    id TEXT PRIMARY KEY,
    runtime TEXT NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    body TEXT NOT NULL,
    reply TEXT
  );
  INSERT INTO notes_with_row_ids SELECT * FROM notes;
  DROP TABLE notes;
  ALTER TABLE notes_with_row_ids RENAME TO notes;
  `,
  // So that a page of runtimes needs no walk through all of them. SQLite adds the row with the first event, whoever writes it.
  `
  CREATE TABLE runtimes (runtime TEXT PRIMARY KEY, began_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX runtimes_by_time ON runtimes (began_at, runtime);
  WITH RECURSIVE found (runtime) AS (
    SELECT min(runtime) FROM events
    UNION ALL
    SELECT (SELECT min(runtime) FROM events WHERE runtime > found.runtime) FROM found WHERE found.runtime IS NOT NULL
  )
  INSERT INTO runtimes
    SELECT runtime, (SELECT at FROM events WHERE events.runtime = found.runtime ORDER BY id LIMIT 1)
    FROM found WHERE runtime IS NOT NULL;
  CREATE TRIGGER runtime_begins AFTER INSERT ON events
    WHEN NOT EXISTS (SELECT 1 FROM runtimes WHERE runtime = NEW.runtime)
    BEGIN INSERT INTO runtimes VALUES (NEW.runtime, NEW.at); END;
  `,
];
