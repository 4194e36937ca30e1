import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AuditEntry, exportAudit, openAuditLog, verifyAudit } from '../../src/security/index.js';

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
    const { hashOf } = await import('../../src/security/audit/record.js');
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
    expect(() => openAuditLog({ file })).toThrow(/cannot be continued/);
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
