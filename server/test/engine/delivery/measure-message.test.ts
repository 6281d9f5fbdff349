import { expect, test } from 'vitest';
import type { Platform } from '../../../src/domain/content/content.ts';
import type { Message } from '../../../src/domain/content/message.ts';
import { planApnsRequest } from '../../../src/providers/apns/plan.ts';
import { planFcmRequest } from '../../../src/providers/fcm/plan.ts';
import { measureMessage } from '../../../src/providers/deliver.ts';
import { makeSimulatedSubscription } from '../../../src/providers/webpush/simulated-browser.ts';
import { planWebPushRequest } from '../../../src/providers/webpush/plan.ts';
import { measureContent } from '../../../src/engine/fan-out/compose-message.ts';
import { makeMessage } from './delivery-bundle.ts';

const subscription = makeSimulatedSubscription({ secret: Buffer.alloc(32, 1), id: 'browser' });

function isPlanned(message: Message): boolean {
  const { platform } = message;
  const input = (pushId: string) => ({ message, device: { deviceId: '0', platform, pushId }, credential: {} as never });
  switch (platform) {
    case 'ANDROID':
      return 'plan' in planFcmRequest(input('token'), { origin: 'https://fcm.test', now: new Date(0) });
    case 'IOS':
      return 'plan' in planApnsRequest(input('ab'.repeat(32)), { origin: 'https://apns.test', now: new Date(0) });
    case 'WEB':
      return 'plan' in planWebPushRequest(input(subscription));
  }
}

test.each<[Platform, number]>([
  ['ANDROID', 4096],
  ['IOS', 4096],
  // What is left of 4,096 when it is encrypted (RFC 8291).
  ['WEB', 3993],
])('%s: a message is planned as long as its size is not beyond the most', (platform, most) => {
  const message = makeMessage(platform, '0');
  const sized = (length: number) =>
    ({ ...message, content: { ...message.content, message: 'ü'.repeat(length) } }) as Message;
  const lengths = Array.from({ length: 1400 }, (_length, index) => 800 + index);
  const around = lengths.filter((length) => Math.abs(measureMessage(sized(length)).bytes - most) < 20);
  expect(around.length).toBeGreaterThan(5);
  for (const length of around) {
    const measured = measureMessage(sized(length));
    expect(measured.most).toBe(most);
    expect(isPlanned(sized(length))).toBe(measured.bytes <= most);
  }
});

test('content is measured with everything sent along with it: ids and the report token', () => {
  const content = { title: 'T', message: 'M', richContent: [], additionalActions: [] };
  const shown = { platform: 'ANDROID', content } as const;
  const defaults = { dataPrefix: 'svc', publicUrl: undefined };
  const measure = (mode: 'both' | 'data', title: string) =>
    measureContent(
      {
        workspaceId: 'WORKSPACE',
        androidPayload: { mode, pushFrom: 'carillon', dataPrefix: null },
        ...shown,
        content: { ...content, title },
      },
      defaults,
    ).bytes;
  expect(measure('both', 'T')).toBeGreaterThan(300);
  // Shown by the system, and read by the app.
  expect(measure('both', 'TTT') - measure('both', 'T')).toBe(4);
  expect(measure('data', 'TTT') - measure('data', 'T')).toBe(2);
});
