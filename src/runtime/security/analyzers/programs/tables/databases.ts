/** Databases and what stores data like one: statements that take data away or reach out of the database. */
import type { Invocation } from '../../shell/invocation.js';
import type { Scope } from '../../shell/scope.js';
import type { Rule } from '../rule.js';

/** Disposable databases. */
const disposable = /(?:^|[\s/_=-])(?:test|tests|testing|tmp|temp|dev|scratch|example|sandbox)(?:[\s_/.-]|$|\w*db\b)|:memory:/i;

const gone = /\bdrop\s+(?:database|schema|user|role|owned|keyspace|measurement|tablespace|collection)\b|dropDatabase\(|\bdetach\s+delete\b/i;
const emptied =
  /\bdrop\s+table\b|\btruncate\s+(?:table\s+)?["`\w]|\bdelete\s+from\s+["`\w.]+\s*(?:;|"|'|$|where\s+(?:1\s*=\s*1|true))|\b(?:deleteMany|remove)\(\s*\{\s*\}|\.drop\(\s*\)|\bupdate\s+["`\w.]+\s+set\s+(?:(?!\bwhere\b)[^;])*(?:;|$)/i;
const reaching =
  /\\!\s*\S|copy\b[\s\S]*\bprogram\b|(?:^|\s)\.?(?:system|shell)\s+\S|sys_exec|sys_eval|xp_cmdshell|into\s+(?:out|dump)file|load_file\s*\(|pg_read_(?:binary_)?file|lo_import|lo_export|\bcopy\b[\s\S]*\b(?:from|to)\s+'\/(?:etc|root|home|var|proc)/i;
const rights =
  /\bgrant\s+all\b[\s\S]*\bon\s+\*\.\*|\bsuperuser\b|\balter\s+(?:user|role)\b[\s\S]*\b(?:password|identified)\b|\bcreate\s+(?:user|role)\b[\s\S]*\b(?:superuser|identified)/i;
const dropping =
  /\b(?:db:drop\S*|db:reset|db:purge|migrate[: ](?:fresh|reset)|db:wipe|flush|reset_db|sqlflush|db push.*--force-reset|ecto\.(?:drop|reset)|schema:drop|sql-drop|db reset|db clean|downgrade base|migrate:rollback.*--all|undo:all|drop)\b/;

/** How much of a script for a database to look at, so that none takes long. */
const longestStatement = 16_384;

const frameworks =
  'rails rake prisma artisan sequelize-cli sequelize knex typeorm drush wp alembic flask mix diesel dbmate supabase flyway liquibase manage.py';
const dropped = {
  line: dropping,
  unless: { line: /\b(?:cache|git|stash)\b/ },
  medium: 'Deletes the database of a project.',
  highWhen: { test: isProduction },
};

export const databases: readonly Rule[] = [
  {
    programs:
      'psql pgcli mysql mycli mariadb sqlite3 mongo mongosh cqlsh sqlcmd clickhouse-client influx duckdb usql bq snowsql surreal cypher-shell tsql isql sqlplus cockroach ysqlsh spanner-cli',
    judge: judgeStatements,
  },
  { programs: 'bq', arg: 'rm', medium: 'Deletes data of a database.', highWhen: { option: '-r -f --recursive --force' } },
  { programs: 'mysqladmin', arg: 'drop', high: 'Deletes a database.' },
  { programs: 'dropdb dropuser pg_dropcluster', high: 'Deletes a database.' },
  { programs: 'pg_resetwal', high: 'Throws away what a database has not yet stored.' },
  {
    programs: 'redis-cli',
    cases: [
      { test: says(/\b(?:flushall|flushdb|shutdown|debug\s+segfault)\b/i), high: 'Deletes all data of a database.' },
      {
        test: says(/config\s+set\s+(?:dir|dbfilename)|\b(?:slaveof|replicaof)\s+(?!no\b)|module\s+load/i),
        high: 'Makes a database write to a place of choice, or load code.',
      },
      { test: says(/(?=[\s\S]*(?:--scan|\bkeys\b))[\s\S]*\bdel\b/i), medium: 'Deletes data of a database.' },
    ],
  },
  {
    programs: 'etcdctl',
    arg: 'get',
    option: '--prefix --from-key',
    test: ({ args }) => args.some((arg) => /^(?:\/|\/registry.*|)$/.test(arg)),
    high: 'Prints the state of a cluster with its secrets.',
  },
  { programs: 'etcdctl', arg: 'del', medium: 'Deletes the state of a cluster.', highWhen: { option: '--prefix --from-key' } },
  {
    programs: 'consul nomad vault zkCli.sh rabbitmqctl rabbitmqadmin kafka-topics kafka-topics.sh nats ceph rados gluster pvesh',
    line: /\b(?:delete|deleteall|destroy|purge\w*|reset|force_reset|delete_\w+|purge_queue|disable|del|rmpool)\b|--delete\b|-purge\b/,
    high: 'Deletes the state of a service.',
  },
  { programs: frameworks, ...dropped },
  {
    programs: 'php python python3 npx bundle yarn pnpm npm bin/rails',
    test: ({ args }) =>
      /^(?:artisan|manage\.py|\.\/manage\.py|prisma|sequelize(?:-cli)?|knex|typeorm|rails|rake|bin\/rails|bin\/console)$/.test(
        args.find((arg) => !arg.startsWith('-') && !/^(?:exec|run)$/.test(arg)) ?? '',
      ),
    ...dropped,
  },
];

/** Commands for a database are words or input. */
function says(expression: RegExp): (invocation: Invocation) => boolean {
  return ({ args, input }) => expression.test(`${args.join(' ')} ${input.text ?? ''}`.slice(0, longestStatement));
}

function judgeStatements({ program, args, input }: Invocation, scope: Scope): void {
  const text = `${args.join(' ')} ${input.text ?? ''}`.slice(0, longestStatement);
  const risk = disposable.test(text) || program === 'sqlite3' || program === 'duckdb' ? 'medium' : 'high';
  if (gone.test(text)) scope.findings.add(risk, 'Deletes a database.');
  // A statement ends with its word, whatever stands behind it.
  else if ([text, ...args].some((statement) => emptied.test(statement))) scope.findings.add(risk, 'Deletes the data of a table.');
  if (reaching.test(text)) scope.high('Starts a program or reads files through a database.');
  if (rights.test(text)) scope.findings.add(risk, 'Changes who may do what in a database.');
}

function isProduction({ args }: Invocation, scope: Scope): boolean {
  const names = ['RAILS_ENV', 'NODE_ENV', 'APP_ENV', 'MIX_ENV', 'DISABLE_DATABASE_ENVIRONMENT_CHECK'];
  const text = [...args, ...names.map((name) => scope.variables.get(name)?.text ?? '')].join(' ');
  return /prod|--force\b|--no-?input|--yes|--accept-data-loss/i.test(text);
}
