import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goodBody, makePushBundle, userBody } from './push-bundle.ts';
import type { PushBundle } from './push-bundle.ts';

let bundle: PushBundle;
let names = 0;

beforeAll(async () => {
  bundle = await makePushBundle({ pushBodies: 'lenient' });
  await bundle.addUser('ada');
});
afterAll(() => bundle.end());

const everyMember = {
  date: '03/09/2026',
  time: '09:00 AM',
  endDate: '03/31/2026',
  timezone: 'UTC',
  repeatAfter: '1',
};

async function warningOf(body: Record<string, unknown>): Promise<unknown> {
  const answer = await bundle.send({ ...body, campaignName: `Idle members ${(names += 1)}` });
  expect(answer.json().status).toBe('Success');
  return answer.headers['x-svc-warning'];
}

describe('members that only apply with another type (decision 0056)', () => {
  test.each([
    ['soon', ['date', 'time', 'endDate', 'timezone', 'repeatAfter']],
    ['later', ['endDate', 'repeatAfter']],
    ['periodic', ['date']],
  ])('are named in a warning in campaignDelivery with type %s', async (type, idle) => {
    const warning = await warningOf(goodBody({ campaignDelivery: { type, ...everyMember } }));
    expect(warning).toBe(idle.map((name) => `campaignDelivery.${name} has no effect here`).join(', '));
  });

  test('are not read in campaignDelivery', async () => {
    const warning = await warningOf(goodBody({ campaignDelivery: { type: 'soon', date: 17, timezone: 'Mars' } }));
    expect(warning).toBe('campaignDelivery.date has no effect here, campaignDelivery.timezone has no effect here');
  });

  test('are named in a warning for another audience', async () => {
    const { targetUserAttributes } = userBody('ada');
    const other = { customSegmentName: 'VIP', targetUserAttributes };
    expect(await warningOf(goodBody(other))).toBe(
      'customSegmentName has no effect here, targetUserAttributes has no effect here',
    );
    expect(await warningOf(userBody('ada', other))).toBe('customSegmentName has no effect here');
  });

  test('are not named if they are empty, because serializers write null for every field', async () => {
    const nothing = { date: null, time: '', endDate: null, timezone: null, repeatAfter: '' };
    const body = goodBody({
      campaignDelivery: { type: 'soon', ...nothing },
      customSegmentName: null,
      targetUserAttributes: {},
    });
    expect(await warningOf(body)).toBeUndefined();
  });
});
