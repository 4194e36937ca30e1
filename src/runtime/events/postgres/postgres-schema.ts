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
  // So that a page of runtimes needs no walk through all of them. Nobody adds events between what it reads and the trigger.
  `
  LOCK TABLE workcell.events IN SHARE ROW EXCLUSIVE MODE;
  CREATE TABLE workcell.runtimes (runtime text COLLATE "C" PRIMARY KEY, began_at bigint NOT NULL);
  CREATE INDEX runtimes_by_time ON workcell.runtimes (began_at, runtime);
  WITH RECURSIVE found (runtime) AS (
    (SELECT runtime FROM workcell.events ORDER BY runtime LIMIT 1)
    UNION ALL
    SELECT (SELECT runtime FROM workcell.events WHERE runtime > found.runtime ORDER BY runtime LIMIT 1)
    FROM found WHERE found.runtime IS NOT NULL
  )
  INSERT INTO workcell.runtimes
    SELECT found.runtime, first.at FROM found
    CROSS JOIN LATERAL (SELECT at FROM workcell.events WHERE runtime = found.runtime ORDER BY id LIMIT 1) AS first;
  CREATE FUNCTION workcell.runtime_begins() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO workcell.runtimes SELECT runtime, min(at) FROM added GROUP BY runtime ORDER BY runtime
        ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$;
  CREATE TRIGGER runtime_begins AFTER INSERT ON workcell.events REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION workcell.runtime_begins();
  `,
];
