import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exportRows } from '../../src/app/export.ts';
import { importTopicChoices } from '../../src/app/import/import-topics.ts';
import { ImportRefusedError } from '../../src/app/import/read-rows.ts';
import { makeManualClock } from '../../src/clock.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

describe('an import of topic choices', () => {
  let bundle: CarillonBundle;
  let folder: string;
  const clock = makeManualClock(new Date('2026-03-10T12:00:00Z'));
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    folder = await mkdtemp(join(tmpdir(), 'carillon-choices-'));
    for (const customer_id of ['ada', 'bo', '=eve', 'old'])
      await bundle.call('POST', `/v1/customer/${bundle.workspaceId}`, {
        headers: bundle.basic(),
        body: { type: 'customer', customer_id },
      });
    for (const key of ['news', 'offers'])
      await bundle.call('POST', '/v1/topics', {
        headers: bundle.basic(),
        body: { key, name: key, default: 'opted_in' },
      });
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await bundle.stop();
  });
  beforeEach(async () => void (await bundle.database`delete from topic_choices`));

  async function load(name: string, lines: string[]) {
    const path = join(folder, name);
    await writeFile(path, lines.map((line) => `${line}\n`).join(''));
    const { database, workspaceId } = bundle;
    const { bytes, totalBytes, ...counts } = await importTopicChoices(
      { database, clock },
      { workspaceId, path, onProgress: () => {} },
    );
    expect(bytes).toBe(totalBytes);
    const rejects = await readFile(`${path}.rejects.ndjson`, 'utf8').catch(() => '');
    return { ...counts, rejects };
  }
  const stored = async () =>
    (
      await bundle.database`
        select users.customer_id || ' ' || topics.key || ' ' || is_in || ' ' || source || ' ' || chosen_at::date as line
        from topic_choices join users on users.id = user_id and users.bucket = topic_choices.bucket
        join topics on topics.id = topic_id order by 1`
    ).map(({ line }) => line as string);

  test('stores the choices of a CSV file, with their times', async () => {
    const result = await load('a.csv', [
      'customer_id,topic,opted_in,chosen_at,source',
      'ada,news,false,2026-03-01T10:00:00Z,app',
      'ada,offers,true,,',
      'bo,news,true,2026-03-02,api',
    ]);
    expect(result).toMatchObject({ rows: 3, choices: 3, known: 0, rejected: 0 });
    expect(await stored()).toEqual([
      'ada news false IMPORT 2026-03-01',
      'ada offers true IMPORT 2026-03-10',
      'bo news true IMPORT 2026-03-02',
    ]);
  });

  test('keeps a newer choice, and of two that are as old the one against the topic', async () => {
    const row = (isIn: boolean, at: string) =>
      JSON.stringify({ customer_id: 'ada', topic: 'news', opted_in: isIn, chosen_at: at });
    const [earlier, same, later] = ['2026-03-01T10:00:00Z', '2026-03-02T10:00:00Z', '2026-03-03T10:00:00Z'];
    await load('b.ndjson', [row(false, same)]);
    expect(await load('b.ndjson', [row(true, earlier)])).toMatchObject({ choices: 0, known: 1 });
    expect(await load('b.ndjson', [row(true, same)])).toMatchObject({ choices: 0, known: 1 });
    expect(await stored()).toEqual(['ada news false IMPORT 2026-03-02']);
    // Also within one file, in any order.
    expect(await load('b.ndjson', [row(true, later), row(false, earlier)])).toMatchObject({ choices: 1, known: 1 });
    expect(await stored()).toEqual(['ada news true IMPORT 2026-03-03']);
    await load('b.ndjson', [row(false, later)]);
    expect(await stored()).toEqual(['ada news false IMPORT 2026-03-03']);
  });

  test('rejects rows without a known user, topic, answer or time, with the reason', async () => {
    const result = await load('c.csv', [
      'customer_id,topic,opted_in,chosen_at',
      'nobody,news,true,',
      'ada,none,true,',
      'ada,news,maybe,',
      'ada,news,true,yesterday',
      'ada,news,true,2026-03-11',
      ',news,true,',
      'bo,news,false,',
    ]);
    expect(result).toMatchObject({ rows: 7, choices: 1, rejected: 6 });
    const reasons = result.rejects
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(reasons.toSorted((one, other) => one.line - other.line)).toEqual([
      { line: 2, reason: "'customer_id' must exist" },
      { line: 3, reason: "'topic': none is not a topic of this workspace" },
      { line: 4, reason: "'opted_in' must be true or false" },
      { line: 5, reason: "'chosen_at' must be a time such as 2026-07-04T08:00:54Z" },
      { line: 6, reason: "'chosen_at' is in the future" },
      { line: 7, reason: "'customer_id' is missing or is neither a text nor a whole number" },
    ]);
    expect(await stored()).toEqual(['bo news false IMPORT 2026-03-10']);
    await expect(load('d.csv', ['user,topic', 'ada,news'])).rejects.toThrow(ImportRefusedError);
  });

  test('reads back what the export writes, also about a customer id that a spreadsheet would run', async () => {
    await load('e.csv', ['customer_id,topic,opted_in,chosen_at', "'=eve,news,false,2026-03-01", 'ada,offers,true,']);
    const before = await stored();
    let text = '';
    const { database, workspaceId } = bundle;
    const subject = { kind: 'topics' as const };
    const write = async (piece: string) => void (text += piece);
    await exportRows(database, { workspaceId, subject, format: 'csv', at: clock.now(), write });
    await database`delete from topic_choices`;
    expect(await load('f.csv', text.trimEnd().split('\r\n'))).toMatchObject({ choices: 2, rejected: 0 });
    expect(await stored()).toEqual(before);
    expect(before[0]).toMatch(/^=eve /);
  });

  test('gives the choice of a merged customer id to the user who stayed', async () => {
    const merged = await bundle.call('POST', `/v1/customer/merge?app_id=${bundle.workspaceId}`, {
      headers: bundle.basic(),
      body: { merge_data: [{ merged_user: 'old', retained_user: 'bo' }] },
    });
    expect(merged.status).toBe(200);
    const row = (customerId: string, day: number) => `${customerId},news,${day === 1},2026-03-0${day}`;
    const result = await load('g.csv', ['customer_id,topic,opted_in,chosen_at', row('old', 2), row('bo', 1)]);
    expect(result).toMatchObject({ choices: 1, known: 1, rejected: 0 });
    expect(await stored()).toEqual(['bo news false IMPORT 2026-03-02']);
  });
});
