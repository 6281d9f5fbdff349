import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordInteractions } from '../../src/app/interactions.ts';
import { selectNewReports, reportDigest } from '../../src/domain/events/interactions.ts';
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
