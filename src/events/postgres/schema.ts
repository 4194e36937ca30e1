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
];
