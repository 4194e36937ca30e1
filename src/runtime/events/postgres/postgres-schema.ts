/** The schema, as the steps that lead to it; `workcell.schema_version` counts those done. */
export const migrations: readonly string[] = [
  `
  CREATE TABLE workcell.events (
    runtime text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    source text NOT NULL,
    cause bigint,
    body text NOT NULL,
    texts text,
    PRIMARY KEY (runtime, id)
  );
  CREATE TABLE workcell.texts (
    digest text COLLATE "C" PRIMARY KEY,
    json text NOT NULL
  );
  CREATE TABLE workcell.text_uses (
    digest text COLLATE "C" NOT NULL,
    runtime text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    PRIMARY KEY (digest, runtime, id)
  );
  CREATE TABLE workcell.compactions (at bigint NOT NULL);
  `,
  `
  CREATE TABLE workcell.notes (
    id text COLLATE "C" PRIMARY KEY,
    runtime text NOT NULL,
    kind text NOT NULL,
    at bigint NOT NULL,
    expires bigint NOT NULL,
    body text NOT NULL,
    reply text
  );
  CREATE TABLE workcell.ledger (sequence bigint PRIMARY KEY, hash text NOT NULL, line text NOT NULL);
  CREATE TABLE workcell.ledger_head (sequence bigint NOT NULL, hash text NOT NULL);
  `,
];
