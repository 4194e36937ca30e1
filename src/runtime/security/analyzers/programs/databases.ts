/** Databases and what stores data like one: statements that take data away or reach out of the database. */
import type { Invocation } from '../shell/invocation.js';
import type { Scope } from '../shell/scope.js';
import { type Checks, each, has } from './check.js';

const clients =
  'psql pgcli mysql mycli mariadb sqlite3 mongo mongosh cqlsh sqlcmd clickhouse-client influx duckdb usql bq snowsql surreal cypher-shell tsql isql sqlplus cockroach ysqlsh spanner-cli';
/** Databases that are there to be thrown away. */
const disposable =
  /(?:^|[\s/_=-])(?:test|tests|testing|tmp|temp|dev|scratch|example|sandbox)(?:[\s_/.-]|$|\w*db\b)|:memory:/i;

const gone =
  /\bdrop\s+(?:database|schema|user|role|owned|keyspace|measurement|tablespace|collection)\b|dropDatabase\(|\bdetach\s+delete\b/i;
const emptied =
  /\bdrop\s+table\b|\btruncate\s+(?:table\s+)?["`\w]|\bdelete\s+from\s+["`\w.]+\s*(?:;|"|'|$|where\s+(?:1\s*=\s*1|true))|\b(?:deleteMany|remove)\(\s*\{\s*\}|\.drop\(\s*\)|\bupdate\s+["`\w.]+\s+set\s+(?:(?!\bwhere\b)[^;])*(?:;|$)/i;
const reaching =
  /\\!\s*\S|copy\b[\s\S]*\bprogram\b|(?:^|\s)\.?(?:system|shell)\s+\S|sys_exec|sys_eval|xp_cmdshell|into\s+(?:out|dump)file|load_file\s*\(|pg_read_(?:binary_)?file|lo_import|lo_export|\bcopy\b[\s\S]*\b(?:from|to)\s+'\/(?:etc|root|home|var|proc)/i;
const rights =
  /\bgrant\s+all\b[\s\S]*\bon\s+\*\.\*|\bsuperuser\b|\balter\s+(?:user|role)\b[\s\S]*\b(?:password|identified)\b|\bcreate\s+(?:user|role)\b[\s\S]*\b(?:superuser|identified)/i;

/** What is looked at of a script for a database, so that none takes long. */
const longestStatement = 16_384;

export const databases: Checks = {
  ...each(clients, judgeStatements),
  mysqladmin: ({ args }, scope) => {
    if (args.includes('drop')) scope.high('Deletes a database.');
  },
  ...each('dropdb dropuser pg_dropcluster', (_, scope) => scope.high('Deletes a database.')),
  pg_resetwal: (_, scope) => scope.high('Throws away what a database has not yet stored.'),
  'redis-cli': ({ args, input }, scope) => {
    const text = `${args.join(' ')} ${input.text ?? ''}`;
    if (/\b(?:flushall|flushdb|shutdown|debug\s+segfault)\b/i.test(text))
      scope.high('Deletes all data of a database.');
    else if (/config\s+set\s+(?:dir|dbfilename)|\b(?:slaveof|replicaof)\s+(?!no\b)|module\s+load/i.test(text))
      scope.high('Makes a database write to a place of choice, or load code.');
    else if (/--scan|\bkeys\b/i.test(text) && /\bdel\b/i.test(text))
      scope.medium('Deletes data of a database.');
  },
  etcdctl: ({ args }, scope) => {
    if (
      args.includes('get') &&
      has(args, '', 'prefix', 'from-key') &&
      args.some((arg) => /^(?:\/|\/registry.*|)$/.test(arg))
    )
      scope.high('Prints the state of a cluster with its secrets.');
    if (args.includes('del'))
      scope.findings.add(
        has(args, '', 'prefix', 'from-key') ? 'high' : 'medium',
        'Deletes the state of a cluster.',
      );
  },
  ...each(
    'consul nomad vault zkCli.sh rabbitmqctl rabbitmqadmin kafka-topics kafka-topics.sh nats ceph rados gluster pvesh',
    ({ args }, scope) => {
      const line = args.join(' ');
      if (
        /\b(?:delete|deleteall|destroy|purge\w*|reset|force_reset|delete_\w+|purge_queue|disable|del|rmpool)\b|--delete\b|-purge\b/.test(
          line,
        )
      )
        scope.high('Deletes the state of a service.');
    },
  ),
  ...each(
    'rails rake prisma artisan sequelize-cli sequelize knex typeorm drush wp alembic flask mix diesel dbmate supabase flyway liquibase manage.py',
    judgeFramework,
  ),
  ...each('php python python3 npx bundle yarn pnpm npm bin/rails', ({ program, args }, scope) => {
    const [first = ''] = args.filter((arg) => !arg.startsWith('-') && !/^(?:exec|run)$/.test(arg));
    if (
      /^(?:artisan|manage\.py|\.\/manage\.py|prisma|sequelize(?:-cli)?|knex|typeorm|rails|rake|bin\/rails|bin\/console)$/.test(
        first,
      )
    )
      judgeFramework({ program, args, variables: [] }, scope);
  }),
};

function judgeStatements({ program, args, input }: Invocation, scope: Scope): void {
  const text = `${args.join(' ')} ${input.text ?? ''}`.slice(0, longestStatement);
  const spared = disposable.test(text) || program === 'sqlite3' || program === 'duckdb';
  // A statement ends with its word, whatever stands behind it.
  const statements = [text, ...args];
  if (gone.test(text)) scope.findings.add(spared ? 'medium' : 'high', 'Deletes a database.');
  else if (statements.some((statement) => emptied.test(statement)))
    scope.findings.add(spared ? 'medium' : 'high', 'Deletes the data of a table.');
  if (reaching.test(text)) scope.high('Starts a program or reads files through a database.');
  if (rights.test(text))
    scope.findings.add(spared ? 'medium' : 'high', 'Changes who may do what in a database.');
  if (program === 'bq' && args.includes('rm'))
    scope.findings.add(
      has(args, 'rf', 'recursive', 'force') ? 'high' : 'medium',
      'Deletes data of a database.',
    );
}

/** The commands of frameworks that take the database of the project away. */
function judgeFramework({ args }: Pick<Invocation, 'program' | 'args' | 'variables'>, scope: Scope): void {
  const line = args.join(' ');
  if (
    !/\b(?:db:drop\S*|db:reset|db:purge|migrate[: ](?:fresh|reset)|db:wipe|flush|reset_db|sqlflush|db push.*--force-reset|ecto\.(?:drop|reset)|schema:drop|sql-drop|db reset|db clean|downgrade base|migrate:rollback.*--all|undo:all|drop)\b/.test(
      line,
    ) ||
    /\b(?:cache|git|stash)\b/.test(line)
  )
    return;
  const production = [
    line,
    ...['RAILS_ENV', 'NODE_ENV', 'APP_ENV', 'MIX_ENV', 'DISABLE_DATABASE_ENVIRONMENT_CHECK'].map(
      (name) => scope.variables.get(name)?.text ?? '',
    ),
  ].join(' ');
  scope.findings.add(
    /prod|--force\b|--no-?input|--yes|--accept-data-loss/i.test(production) ? 'high' : 'medium',
    'Deletes the database of a project.',
  );
}
