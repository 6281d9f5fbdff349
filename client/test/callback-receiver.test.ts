import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeCallbackReceiver } from '../src/index.ts';
import type { FileSegmentCallback } from '../src/generated/shapes.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const now = () => 1_700_000_000_000;

/** As the service posts it: Standard Webhooks over id, time and body. */
function signed(id: string, segmentName = 'Buyers') {
  const rawBody = JSON.stringify({ db_name: 'shop', segment_name: segmentName, request_id: id, status: 201 });
  const timestamp = String(now() / 1000);
  const signature = createHmac('sha256', Buffer.alloc(32, 7)).update(`${id}.${timestamp}.${rawBody}`).digest('base64');
  return {
    headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
    rawBody,
  };
}

test('an outcome is handled once, and a repeat is answered as it was', async () => {
  const names: string[] = [];
  const receiver = makeCallbackReceiver({ secret, now, onOutcome: ({ segment_name: name }) => void names.push(name) });
  expect([await receiver.take(signed('a')), await receiver.take(signed('a'))]).toEqual([200, 200]);
  expect(await receiver.take(signed('b', 'Readers'))).toBe(200);
  expect(names).toEqual(['Buyers', 'Readers']);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('disk full');
    },
  ],
  ['rejects', () => Promise.reject(new Error('disk full'))],
])('what a handler %s for is told to whoever posted it, and handled anew when it comes again', async (_how, fail) => {
  const handled: FileSegmentCallback[] = [];
  let tries = 0;
  const receiver = makeCallbackReceiver({
    ...{ secret, now },
    onOutcome(outcome) {
      tries += 1;
      if (tries === 1) return fail();
      handled.push(outcome);
      return undefined;
    },
  });
  const { outcome } = receiver.waitFor('Buyers');
  await expect(receiver.take(signed('a'))).rejects.toThrow('disk full');
  expect(await receiver.take(signed('a'))).toBe(200);
  expect(await receiver.take(signed('a'))).toBe(200);
  expect([tries, handled.length]).toEqual([2, 1]);
  expect(await outcome).toMatchObject({ segment_name: 'Buyers', status: 201 });
});

test('a repeat that comes while the first is handled waits for it, and is not handled beside it', async () => {
  let tries = 0;
  let end = (): void => undefined;
  const receiver = makeCallbackReceiver({
    ...{ secret, now },
    async onOutcome() {
      tries += 1;
      await new Promise<void>((resolve) => (end = resolve));
    },
  });
  const answers = [receiver.take(signed('a')), receiver.take(signed('a'))];
  await expect.poll(() => tries).toBe(1);
  // Whoever is to come second has checked its signature by then.
  await expect(receiver.take({ ...signed('a'), rawBody: '{}' })).resolves.toBe(401);
  end();
  expect(await Promise.all(answers)).toEqual([200, 200]);
  expect(tries).toBe(1);
});
