import { expect, test } from 'vitest';
import type { Message } from '../../../src/domain/content/message.ts';
import type { Platform } from '../../../src/domain/content/content.ts';
import { planApnsRequest } from '../../../src/providers/apns/plan.ts';
import { planFcmRequest } from '../../../src/providers/fcm/plan.ts';
import type { Outcome, Plan } from '../../../src/providers/provider.ts';
import { planWebPushRequest } from '../../../src/providers/webpush/plan.ts';
import { makeSimulatedSubscription } from '../../../src/providers/webpush/simulated-browser.ts';
import { makeMessage } from './delivery-bundle.ts';

const pushIds: Record<Platform, string> = {
  ANDROID: 'token',
  IOS: 'ab'.repeat(32),
  WEB: makeSimulatedSubscription({ secret: Buffer.alloc(32, 1), id: 'browser' }),
};

function plan(message: Message): { plan: Plan } | { outcome: Outcome } {
  const { platform } = message;
  const input = { message, device: { deviceId: '0', platform, pushId: pushIds[platform] }, credential: {} as never };
  switch (platform) {
    case 'ANDROID':
      return planFcmRequest(input, { origin: 'https://fcm.test', now: new Date(0) });
    case 'IOS':
      return planApnsRequest(input, { origin: 'https://apns.test', now: new Date(0) });
    case 'WEB':
      return planWebPushRequest(input);
  }
}

/** Bytes of the longest text that still fits beside all the rest. */
function maxText(message: Message): number {
  const fits = (length: number) =>
    'plan' in plan({ ...message, content: { ...message.content, message: 'x'.repeat(length) } } as Message);
  let [most, tooMany] = [0, 5000];
  while (tooMany - most > 1) {
    const middle = (most + tooMany) >> 1;
    if (fits(middle)) most = middle;
    else tooMany = middle;
  }
  return most;
}

// Name and value, and in JSON quotes, colon and comma.
test.each([
  // The text of an Android message travels twice, in the notification and in the data.
  ['ANDROID', (16 + 81) / 2],
  // With what makes an app's service extension run, which reports.
  ['IOS', 12 + 81 + 6 + 20],
  ['WEB', 12 + 81 + 6 + 11 + 22 + 6],
] as const)(
  '%s: what a device reports with takes few of the 4 KB, and never makes a message too large unnoticed',
  (platform, bytes) => {
    const message = makeMessage(platform, '0');
    const { report, ...without } = message;
    // The workspace's id has 9 characters here.
    expect(report!.token).toHaveLength(70);
    expect(maxText(without as Message) - maxText(message)).toBeLessThanOrEqual(bytes);
    expect(maxText(message)).toBeGreaterThan(1500);
  },
);

test('it is where the device reads it', () => {
  const [android, ios] = (['ANDROID', 'IOS'] as const).map((platform) => {
    const message = makeMessage(platform, '0');
    const planned = plan({ ...message, report: { ...message.report!, clickProof: 'proof' } });
    return { message, body: JSON.parse(('plan' in planned ? planned.plan.body : '').toString()) };
  });
  expect(android!.body.message.data).toMatchObject({
    svc_report_token: android!.message.report!.token,
    svc_click_proof: 'proof',
  });
  expect(ios!.body.svc).toMatchObject({ report_token: ios!.message.report!.token, click_proof: 'proof' });
  const bare = plan({ ...makeMessage('ANDROID', '0'), report: { token: 'only' } });
  expect('plan' in bare && bare.plan.body.toString()).not.toContain('click_proof');
});
