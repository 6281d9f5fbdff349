import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { recordInteractions } from '../../src/app/interactions/record-interactions.ts';
import { selectNewReports } from '../../src/domain/interactions/select-new-reports.ts';
import { reportDigest } from '../../src/domain/interactions/interaction.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { addCampaignInteractions, addDeviceReports, holdReports } from '../../src/storage/ledger/interactions.ts';
import type { DeviceReport } from '../../src/storage/ledger/interactions.ts';
import { makeInteractionBundle } from './interaction-bundle.ts';
import type { InteractionBundle } from './interaction-bundle.ts';

let bundle: InteractionBundle;
let campaignId: string;
let runId: string;
beforeAll(async () => {
  bundle = await makeInteractionBundle();
  campaignId = await bundle.addCampaign();
  runId = await bundle.addRun(campaignId);
});
afterAll(() => bundle.stop());

const report = (bucket: number, id: string): DeviceReport => ({
  workspaceId: bundle.workspaceId,
  bucket,
  campaignId,
  deviceId: bucket.toString(16).padStart(24, '0'),
  kind: 'CLICK',
  runId,
  platform: 'WEB',
  variation: 0,
  locale: '',
  action: null,
  digest: reportDigest(id),
});
const received = (bucket: number, id: string) => ({
  subject: { ...report(bucket, id) },
  kind: 'click' as const,
  action: null,
  digest: reportDigest(id),
  at: bundle.clock.now(),
});

test('while a report is stored, those of devices in other buckets are counted, and those of its own wait and are counted after it', async () => {
  const { database } = bundle;
  let own: Promise<boolean[]> | undefined;
  await inTransaction(database, async (tx) => {
    const reports = [report(1, 'a')];
    await holdReports(tx, reports);
    await addDeviceReports(tx, { reports, at: bundle.clock.now() });
    await addCampaignInteractions(tx, selectNewReports({ reports, counted: [], most: 10 }).gains);
    // Waiting here for one that waits for this transaction would be waiting for ever.
    expect(await recordInteractions({ database, since: new Date(0) }, [received(2, 'b'), received(3, 'c')])).toEqual([
      true,
      true,
    ]);
    expect(await bundle.figures(campaignId)).toEqual({ 'WEB CLICK': [2, 2] });
    own = recordInteractions({ database, since: new Date(0) }, [received(1, 'a'), received(1, 'd')]);
  });
  await own;
  // The repeat of 'a' counts once, 'd' as another of the same device.
  expect(await bundle.figures(campaignId)).toEqual({ 'WEB CLICK': [4, 3] });
});

test('figures that were counted before there were buckets stay, and go on', async (context) => {
  context.skip(inject('workerUrls') !== null, 'no table is distributed before it has this migration');
  const { database, workspaceId } = bundle;
  const [migration] = await database`select name from schema_migrations where name like '%interaction_shards.sql'`;
  const path = join(import.meta.dirname, '..', '..', 'migrations', migration!.name as string);
  const campaign = await bundle.addCampaign();
  await database.unsafe(`
    alter table campaign_interactions drop constraint campaign_interactions_pkey;
    alter table campaign_interactions drop column bucket;
    delete from campaign_interactions;
    alter table campaign_interactions add constraint campaign_interactions_pkey
      primary key (workspace_id, campaign_id, platform, kind)`);
  await database`
    insert into campaign_interactions (workspace_id, campaign_id, platform, kind, total, unique_devices)
    values (${workspaceId}, ${campaign}, 'WEB', 'CLICK', 41, 7)`;
  await database.unsafe(await readFile(path, 'utf8'));
  // As migration variants left it.
  await database.unsafe(`
    alter table campaign_interactions drop constraint campaign_interactions_pkey;
    alter table campaign_interactions add constraint campaign_interactions_pkey
      primary key (workspace_id, campaign_id, bucket, platform, kind, variation, locale)`);
  const run = await bundle.addRun(campaign);
  await recordInteractions(
    { database, since: new Date(0) },
    [0, 5].map((bucket) => ({ ...received(bucket, 'x'), subject: { ...report(bucket, 'x'), runId: run } })),
  );
  expect(await bundle.figures(campaign)).toEqual({ 'WEB CLICK': [43, 9] });
});
