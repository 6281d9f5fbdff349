import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFanOutBundle } from './fan-out-bundle.ts';
import type { FanOutBundle } from './fan-out-bundle.ts';

let bundle: FanOutBundle;
beforeAll(async () => {
  bundle = await makeFanOutBundle();
});
afterAll(() => bundle.drop());

const linesOf = (runId: string) =>
  bundle.lines.filter((line) => line['runId'] === runId).map(({ time: _time, level: _level, ...line }) => line);

test("the log tells a campaign's life: started with its devices, ended with what became of them", async () => {
  await bundle.addDevices(3);
  const { campaignId, runId } = await bundle.accept({ platforms: ['ANDROID'] });
  await bundle.release();
  await bundle.work();
  await bundle.end();
  const of = { runId, campaignId, workspace: bundle.workspaceId };
  const { audienceDevices: devices } = await bundle.run(runId);
  const counts = [{ platform: 'ANDROID', outcome: 'ACCEPTED', devices }];
  expect(linesOf(runId)).toEqual([
    { ...of, devices, msg: 'run started' },
    { ...of, counts, msg: 'run ended' },
  ]);
});

test('a send that cannot start says why, and one to named users has the line of its call alone', async () => {
  const { runId } = await bundle.accept({ segmentId: 'f'.repeat(24) });
  await bundle.release();
  expect(linesOf(runId)).toMatchObject([{ reason: 'the segment no longer exists', msg: 'run failed' }]);
  const named = await bundle.accept({ targetUsers: [] });
  await bundle.end();
  expect(linesOf(named.runId)).toEqual([]);
});
