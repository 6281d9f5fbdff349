import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFanOutBundle } from './fan-out-bundle.ts';
import type { FanOutBundle } from './fan-out-bundle.ts';

let bundle: FanOutBundle;
beforeEach(async () => {
  bundle = await makeFanOutBundle();
});
afterEach(() => bundle.drop());

/** The provider keeps its answers back until they are let go. */
function holdAnswers(count: number) {
  const asked = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  bundle.answer(async () => {
    if (bundle.sent.length >= count) asked.resolve();
    await goOn.promise;
    return { kind: 'accepted' };
  });
  return { asked: asked.promise, goOn: goOn.resolve };
}

/** As the sandbox does it: further than a lease, time and again, and everything looks for work each time. */
async function moveClock(): Promise<void> {
  for (let move = 1; move <= 4; move += 1) {
    bundle.clock.setOffset(move * 3_600_000);
    expect(await bundle.claim(`thief ${move}`)).toBeUndefined();
    expect(await bundle.retry()).toBe(0);
    await bundle.end();
  }
}

test('a send outlives a clock that is moved four times: each device gets one message', async () => {
  await bundle.addDevices(20);
  const { campaignId, runId } = await bundle.accept();
  await bundle.release();
  const { asked, goOn } = holdAnswers(20);
  const workers = bundle.startWorkers({ owner: 'first' });
  await asked;
  await moveClock();
  goOn();
  await bundle.settled(runId, [workers]);
  await workers.stop();
  await bundle.end();
  expect(await bundle.states(campaignId)).toEqual({ campaign: 'SENT', run: 'SENT', reason: null });
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 20 });
  expect(bundle.sent).toHaveLength(20);
});

test('a second attempt outlives it too', async () => {
  await bundle.addDevices(20);
  bundle.answer(() => ({ kind: 'wait', code: '503', scope: 'device' }));
  const { runId } = await bundle.accept();
  await bundle.release();
  await bundle.work();
  bundle.clock.setOffset(1_800_000);
  const { asked, goOn } = holdAnswers(40);
  const retried = bundle.retry();
  await asked;
  await moveClock();
  goOn();
  expect(await retried).toBe(20);
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 20 });
  expect(bundle.sent).toHaveLength(40);
  const [most] =
    await bundle.database`select max(attempts) as attempts from readable_deliveries as deliveries where run_id = ${runId}`;
  expect(most!.attempts).toBe(2);
});
