import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openAuditStore } from '../../../src/runtime/security/audit/audit-store.js';
import {
  type AuditEntry,
  exportAudit,
  exportAuditStore,
  openAuditLog,
  verifyAudit,
  verifyAuditStore,
} from '../../../src/runtime/security/index.js';

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'workcell-audit-'));
  file = join(directory, 'audit.jsonl');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const entry = (command: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
  who: 'agent',
  action: { action: 'run', command },
  outcome: 'allow',
  by: 'risk',
  risk: 'low',
  policyVersion: 'v1',
  ...more,
});

function fill(count: number, rotateBytes?: number): void {
  const log = openAuditLog({ file, sync: false, rotateBytes });
  for (let index = 1; index <= count; index++) log.append(entry(`echo ${index}`));
  log.close();
}

const lines = () => readFileSync(file, 'utf8').trimEnd().split('\n');
const rewrite = (changed: readonly string[]) => writeFileSync(file, `${changed.join('\n')}\n`);

test('an untouched record is whole, over restarts and rotation', () => {
  fill(20, 1500);
  fill(20, 1500);
  const result = verifyAudit(file);
  expect(result).toMatchObject({ ok: true, records: 40 });
  expect([...exportAudit(file, 'jsonl')].map((line) => JSON.parse(line).sequence)).toEqual(
    Array.from({ length: 40 }, (_, index) => index + 1),
  );
  expect(readFileSync(`${file}.1`, 'utf8').length).toBeGreaterThanOrEqual(1500);
});

describe('what was touched is found', () => {
  beforeEach(() => fill(6));
  const kinds = () => verifyAudit(file).problems.map(({ kind }) => kind);

  test('a changed record', () => {
    rewrite(lines().map((line, index) => (index === 2 ? line.replace('echo 3', 'echo x') : line)));
    expect(verifyAudit(file).problems).toMatchObject([{ kind: 'changed', line: 3 }]);
  });

  test('a changed record with a new hash of its own', async () => {
    const { hashOf } = await import('../../../src/runtime/security/audit/record.js');
    const forged = JSON.parse(lines()[2] ?? '');
    forged.action.command = 'echo x';
    forged.hash = hashOf(forged);
    rewrite(lines().map((line, index) => (index === 2 ? JSON.stringify(forged) : line)));
    expect(kinds()).toEqual(['changed']);
  });

  test('a removed record', () => {
    rewrite(lines().filter((_, index) => index !== 3));
    expect(kinds()).toContain('removed');
  });

  test('the first record removed', () => {
    rewrite(lines().slice(1));
    expect(kinds()).toContain('removed');
  });

  test('two records exchanged', () => {
    const [first = '', second = '', ...rest] = lines();
    rewrite([second, first, ...rest]);
    expect(kinds()).toContain('reordered');
  });

  test('a record repeated', () => {
    rewrite([...lines(), lines().at(-1) ?? '']);
    expect(kinds()).toContain('reordered');
  });

  test('the end cut off', () => {
    rewrite(lines().slice(0, 4));
    expect(kinds()).toEqual(['truncated']);
  });

  test('everything removed, and the head removed', () => {
    writeFileSync(file, '');
    expect(kinds()).toEqual(['truncated']);
    rmSync(`${file}.head`);
    fill(0);
  });

  test('a line that is no record', () => {
    rewrite([...lines().slice(0, 2), '{"who":', ...lines().slice(2)]);
    expect(kinds()).toEqual(['malformed']);
  });

  test('such a record is not continued', () => {
    rewrite(lines().slice(0, 4));
    expect(() => openAuditLog({ file })).toThrow(/cannot continue the audit record/);
  });
});

test('a crash between a line and its head is not taken for tampering', () => {
  fill(3);
  const head = readFileSync(`${file}.head`, 'utf8');
  fill(1);
  writeFileSync(`${file}.head`, head);
  expect(verifyAudit(file).ok).toBe(true);
  fill(1);
  expect(verifyAudit(file)).toMatchObject({ ok: true, records: 5 });
});

test('OCSF has the classes, the required attributes and matching type ids', () => {
  const log = openAuditLog({ file, sync: false });
  log.append(entry('rm -rf /', { outcome: 'deny', risk: 'high', reasons: ['No.'] }));
  log.append(entry('', { action: { action: 'write', path: '/workspace/a.txt' } }));
  log.close();
  const [process, written] = [...exportAudit(file, 'ocsf')].map((line) => JSON.parse(line));
  expect(process).toMatchObject({
    class_uid: 1007,
    activity_id: 1,
    type_uid: 100701,
    action_id: 2,
    severity_id: 4,
    process: { cmd_line: 'rm -rf /' },
  });
  expect(written).toMatchObject({
    class_uid: 1001,
    activity_id: 1,
    type_uid: 100101,
    action_id: 1,
    file: { name: 'a.txt', path: '/workspace/a.txt', type_id: 0 },
  });
  for (const event of [process, written]) {
    expect(event.type_uid).toBe(event.class_uid * 100 + event.activity_id);
    for (const field of ['category_uid', 'time', 'severity_id', 'metadata', 'device', 'actor'])
      expect(event).toHaveProperty(field);
    expect(event.metadata).toMatchObject({
      version: expect.any(String),
      product: { vendor_name: 'Workcell' },
    });
  }
});

test('a record in a store is one chain for all that write to it, and tampering with it shows', async () => {
  const place = join(directory, 'audit.db');
  const name = `sqlite:${place}`;
  const [first, second] = await Promise.all([
    openAuditStore({ store: name }, undefined),
    openAuditStore({ store: name }, undefined),
  ]);
  for (const command of ['a', 'b', 'c', 'd'])
    await Promise.all([first.append(entry(command)), second.append(entry(`${command}2`))]);
  first.close();
  second.close();
  expect(await verifyAuditStore(name)).toMatchObject({ ok: true, records: 8 });
  const lines = [];
  for await (const line of exportAuditStore(name, 'jsonl')) lines.push(JSON.parse(line));
  expect(lines.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  const kinds = async () => (await verifyAuditStore(name)).problems.map(({ kind }) => kind);
  const tamper = (sql: string) => {
    const database = new DatabaseSync(place);
    database.exec(sql);
    database.close();
  };
  tamper(`UPDATE ledger SET line = replace(line, '"c"', '"x"') WHERE sequence = 5`);
  expect(await kinds()).toContain('changed');
  tamper('DELETE FROM ledger WHERE sequence = 5');
  expect(await kinds()).toContain('removed');
  tamper('DELETE FROM ledger WHERE sequence > 4');
  expect(await kinds()).toEqual(['truncated']);
  await expect(openAuditStore({ store: true }, undefined)).rejects.toThrow(/memory/);
});
