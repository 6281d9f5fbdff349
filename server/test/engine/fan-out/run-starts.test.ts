import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/storage/database.ts';
import { pauseCampaignRuns, resumeCampaignRuns, stopCampaignRuns } from '../../../src/storage/runs/campaign-runs.ts';
import { until } from '../../carillon-bundle.ts';
import { makeFanOutBundle, start } from './fan-out-bundle.ts';
import type { FanOutBundle } from './fan-out-bundle.ts';

let bundle: FanOutBundle;
beforeEach(async () => {
  bundle = await makeFanOutBundle();
  await bundle.addDevices(20);
});
afterEach(() => bundle.drop());

/** Starts the next run, and holds it where it counts its devices until the work is done. */
async function whileCounting(work: (counting: { pid: number }) => Promise<void>): Promise<number> {
  const { database } = bundle;
  return inTransaction(database, async (tx) => {
    await tx`lock table devices in access exclusive mode`;
    const released = bundle.release();
    released.catch(() => {});
    const [counting] = await until(async () => {
      // Not by the transaction, which sees one state of this view.
      const waiting = await database<{ pid: number }[]>`
        select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%devices%'`;
      return waiting.length > 0 && waiting;
    });
    await work(counting!);
    return { released };
  }).then(({ released }) => released);
}

/** Changes the run as a request does, which waits for nobody. */
const atOnce = (change: (tx: Parameters<typeof pauseCampaignRuns>[0]) => Promise<void>) =>
  inTransaction(bundle.database, async (tx) => {
    await tx`set local lock_timeout = '1s'`;
    await change(tx);
  });

async function addFilterSegment(): Promise<string> {
  const id = 'a'.repeat(24);
  const everybody = {
    filter_operator: 'and',
    filters: [{ filter_type: 'user_attributes', name: 'none', data_type: 'string', operator: 'exists', negate: true }],
  };
  await bundle.database`
    insert into segments (id, workspace_id, name, kind, state, source, included_filters, filters_digest, created_by,
      created_at, updated_at)
    values (${id}, ${bundle.workspaceId}, 'Everybody', 'FILTER', 'READY', 'API', ${bundle.database.json(everybody)},
      ${Buffer.alloc(32)}, 'test', ${start}, ${start})`;
  return id;
}

const countOf = async (table: 'chunks' | 'segment_members') =>
  (await bundle.database`select 1 from ${bundle.database(table)}`).length;

describe('while the devices of a run are counted', () => {
  test('it is stopped at once, and nothing of its start stays, the members of its segment neither', async () => {
    const { campaignId } = await bundle.accept({ segmentId: await addFilterSegment() });
    await whileCounting(() => atOnce((tx) => stopCampaignRuns(tx, { campaignId, reason: 'by a test', at: start })));
    expect(await bundle.states(campaignId)).toMatchObject({ run: 'STOPPED', reason: 'by a test' });
    expect([await countOf('chunks'), await countOf('segment_members')]).toEqual([0, 0]);
  });

  test('it is paused at once, and starts with its whole audience when it is resumed', async () => {
    const { campaignId, runId } = await bundle.accept();
    await whileCounting(() => atOnce((tx) => pauseCampaignRuns(tx, { campaignId, reason: 'by a test' })));
    expect(await bundle.states(campaignId)).toMatchObject({ run: 'PAUSED' });
    expect([await bundle.release(), await countOf('chunks')]).toEqual([0, 0]);
    await atOnce((tx) => resumeCampaignRuns(tx, campaignId));
    expect(await bundle.release()).toBe(1);
    await bundle.work();
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 20 });
  });

  test('another node starts the next run, and this one is started once', async () => {
    const [first, second] = [await bundle.accept(), await bundle.accept()];
    let others: Promise<number>[] = [];
    expect(
      await whileCounting(async () => {
        others = [bundle.release(), bundle.release()];
      }),
    ).toBe(1);
    expect((await Promise.all(others)).toSorted()).toEqual([0, 1]);
    for (const { campaignId } of [first, second])
      expect(await bundle.states(campaignId)).toMatchObject({ run: 'SENDING' });
    expect(await countOf('chunks')).toBe(2);
  });

  test('a node dies: nothing is half done, and the next look starts the run', async () => {
    const { campaignId, runId } = await bundle.accept({ segmentId: await addFilterSegment() });
    await expect(
      whileCounting(async ({ pid }) => {
        // Its locks end with it. A cluster has a function of this name for numbers of another kind, of type bigint.
        await bundle.database`select pg_terminate_backend(${pid}::int)`;
        await until(
          async () => (await bundle.database`select 1 from pg_stat_activity where pid = ${pid}`).length === 0,
        );
      }),
    ).rejects.toThrow();
    expect(await bundle.states(campaignId)).toMatchObject({ run: 'QUEUED' });
    expect([await countOf('chunks'), await countOf('segment_members')]).toEqual([0, 0]);
    expect(await bundle.release()).toBe(1);
    await bundle.work();
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 20 });
  });
});

describe('a run that cannot be started', () => {
  /** Whatever would be stored of the run fails. @returns ends it */
  async function poison(runId: string): Promise<() => Promise<void>> {
    await bundle.database.unsafe(`
      create function poison() returns trigger language plpgsql as
        $$ begin raise exception 'a row that cannot be' using errcode = '22000'; end $$`);
    await bundle.database.unsafe(`
      create trigger poison before insert on chunks for each row when (new.run_id = '${runId}') execute function poison()`);
    return async () => void (await bundle.database.unsafe('drop function poison() cascade'));
  }

  const statusesOf = async (...runs: { campaignId: string }[]) =>
    Promise.all(runs.map(async ({ campaignId }) => (await bundle.states(campaignId)).run));

  test('keeps none back that wait behind it, and is told of by its id', async () => {
    const first = await bundle.accept();
    bundle.clock.advance(1000);
    const second = await bundle.accept();
    await poison(first.runId);
    while ((await bundle.release()) > 0);
    expect(await statusesOf(first, second)).toEqual(['QUEUED', 'SENDING']);
    expect(bundle.lines).toContainEqual(
      expect.objectContaining({ runId: first.runId, msg: 'run cannot be started; others go before it' }),
    );
  });

  test('is tried again after two seconds, then after twice as long each time up to a minute, and starts once it can', async () => {
    const { campaignId, runId } = await bundle.accept();
    const end = await poison(runId);
    for (const seconds of [2, 4, 8, 16, 32, 60, 60]) {
      expect(await bundle.release()).toBe(1);
      bundle.clock.advance(seconds * 1000 - 1);
      expect(await bundle.release()).toBe(0);
      bundle.clock.advance(1);
    }
    await end();
    expect(await bundle.release()).toBe(1);
    expect(await bundle.states(campaignId)).toMatchObject({ run: 'SENDING' });
  });
});
