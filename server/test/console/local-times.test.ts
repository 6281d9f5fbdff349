import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CampaignBody } from '../../../client/src/carillon-campaigns.ts';
import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import { exceptionSentences, occurrenceText, spanText } from '../../../console/src/composer/schedule/describe-times.ts';
import { formatDay, formatMinute } from '../../../console/src/parts/text/format-time.ts';
import { makeDecideEligibility } from '../../src/domain/eligibility.ts';
import type { Eligibility } from '../../src/domain/eligibility.ts';
import { localDate, localTime, toInstant } from '../../src/domain/timing/local-time.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { openSignedInClient } from './signed-in-client.ts';

const hour = 3_600_000;
const stored = ['Moon/Sea', 'Pacific/Kiritimati', null, 'Pacific/Pago_Pago', 'Asia/Kolkata', 'America/New_York'];

describe('a send at the local time of each user, in the words of the composer', () => {
  let bundle: CarillonBundle;
  let client: ConsoleClient;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    ({ client } = await openSignedInClient(bundle));
    const { database, workspaceId } = bundle;
    await database`delete from devices`;
    const headers = bundle.basic();
    for (const [index, zone] of stored.entries()) {
      const traveller = { customer_id: `traveller-${index}` };
      const attributes = zone === null ? {} : { time_zone: zone === 'Moon/Sea' ? 'UTC' : zone };
      const phone = { platform: 'ANDROID', push_id: `token-of-traveller-${index}` };
      for (const [path, body] of [
        ['customer', { type: 'customer', ...traveller, attributes }],
        ['device', { type: 'device', ...traveller, device_id: `phone-${index}`, attributes: phone }],
      ] as const)
        expect((await bundle.call('POST', `/v1/${path}/${workspaceId}`, { headers, body })).status).toBe(200);
      // The API rejects such a name. It is stored if the attribute was selected later.
      const spoiled = database`attributes || jsonb_build_object('time_zone', ${zone}::text)`;
      if (zone === 'Moon/Sea')
        await database`update users set attributes = ${spoiled} where customer_id = ${traveller.customer_id}`;
    }
  });
  afterAll(() => bundle?.stop());

  const campaignAt = (start: Date, { timeZone, ifPassed }: { timeZone: string; ifPassed: 'SKIP' | 'SEND' }) => {
    const [date, time] = [localDate(start, timeZone), localTime(start, timeZone).slice(0, 5)];
    const campaign: CampaignBody = {
      channel: 'PUSH',
      campaign_delivery_type: 'ONE_TIME',
      basic_details: { name: 'In every zone', platforms: ['ANDROID', 'IOS'] },
      segmentation_details: { is_all_user_campaign: true },
      scheduling_details: {
        delivery_type: 'SEND_IN_USER_TIMEZONE',
        start_time: `${date}T${time}:00`,
        timezone: timeZone,
        user_timezone_details: { send_if_user_timezone_has_passed: ifPassed === 'SEND' },
      },
    };
    return { campaign, date, time };
  };

  const inHours = [30, 3];
  const zones = ['UTC', 'Asia/Kolkata', 'America/Los_Angeles'];
  const policies = ['SKIP', 'SEND'] as const;
  const cases = inHours.flatMap((hours) =>
    zones.flatMap((zone) => policies.map((policy) => ({ hours, zone, policy }))),
  );

  test.each(cases)(
    'names what the engine does: in $hours hours in $zone, where it has passed: $policy',
    async ({ hours, zone, policy }) => {
      const { workspaceId } = bundle;
      const now = new Date();
      const planned = new Date(now.getTime() + hours * hour);
      const { campaign, date, time } = campaignAt(planned, { timeZone: zone, ifPassed: policy });
      const check = await client.composer.check({ workspaceId, campaign });
      const [occurrence] = check.schedule!.occurrences;
      expect(occurrence).toMatchObject({ local: { date, time }, timeZone: zone });

      // What the engine decides about a user of each zone when the run begins.
      const begins = new Date(occurrence!.at);
      const send = { date, time, timeZone: zone, ifPassed: policy };
      const none = { caps: [], quietHours: null, otherDelayMinutes: null, ownDelayMinutes: null, sendLimit: null };
      const forever = new Date(now.getTime() + 1_000 * hour);
      const run = { id: 'r', campaignId: 'c', startedAt: begins, start: begins, sendUntil: forever, queueUntil: null };
      const rules = { ...none, localSend: send, bestTime: null, zone: { attribute: 'time_zone', fallback: 'UTC' } };
      const decide = makeDecideEligibility(rules as never, { run, now: begins });
      const ask = (timeZone: string | null): Eligibility => decide({ timeZone, messages: [], opens: [] });
      const usual = toInstant(send);
      const isLate = (named: string | null): boolean =>
        named !== 'Moon/Sea' && toInstant({ ...send, timeZone: named ?? zone }).getTime() < begins.getTime() - hour;

      const first = ask('Pacific/Kiritimati');
      const last = ask('Pacific/Pago_Pago');
      const until = (found: Eligibility) =>
        found.kind === 'hold' ? formatMinute(found.until.toISOString(), 'UTC') : '';
      const when = occurrenceText(occurrence!);
      expect(when).toContain(`at ${time} on ${formatDay(date)} in each person’s time zone`);
      expect(when).toContain(`American Samoa (${until(last)})`);
      const passesFirst = toInstant({ ...send, timeZone: 'Pacific/Kiritimati' }) < begins;
      expect(occurrence!.everyZone!.hasPassed).toBe(passesFirst);
      expect(hours === 3).toBe(passesFirst);
      // Nobody waits for Kiribati when the run begins with it.
      if (!passesFirst) {
        expect(first.kind).toBe('send');
        expect(spanText(occurrence!)).toContain(`from Kiribati (${formatMinute(begins.toISOString(), 'UTC')})`);
      } else expect(spanText(occurrence!)).toMatch(/^from now until American Samoa/);

      const count = await client.composer.countLocalTimes({ workspaceId, campaign });
      const tally = { state: 'COUNTED', waiting: 0, atOnce: 0, passed: 0, unknownZone: 0 };
      for (const named of stored) {
        const found = ask(named);
        if (found.kind === 'fail') tally.unknownZone += 1;
        else if (isLate(named)) {
          tally.passed += 1;
          const outcome =
            policy === 'SKIP' ? { kind: 'withhold', code: 'USER_TIME_ZONE' } : { kind: 'hold', until: usual };
          expect(found).toMatchObject(outcome);
        } else if (found.kind === 'hold') tally.waiting += 1;
        else tally.atOnce += 1;
      }
      expect(count).toEqual(tally);
      expect(tally.unknownZone).toBeGreaterThan(0);
      expect(tally.passed > 0).toBe(passesFirst);

      const sentences = exceptionSentences(occurrence!, count).join(' ');
      if (tally.passed > 0) {
        expect(sentences).toContain(`${time} has passed for ${tally.passed} `);
        expect(sentences).toContain(
          policy === 'SKIP'
            ? 'they do not get it'
            : `they get it at ${time} in ${zone} (${formatMinute(usual.toISOString(), 'UTC')})`,
        );
      } else expect(sentences).not.toContain('has passed for');
      expect(sentences).toContain(`People without a time zone get it at ${time} in ${zone}.`);
    },
  );

  test('says nothing about time zones of a campaign that is sent at one instant', async () => {
    const { workspaceId } = bundle;
    const scheduling = { delivery_type: 'AT_FIXED_TIME', start_time: '2098-11-30T09:00:00', timezone: 'Europe/Berlin' };
    const campaign: CampaignBody = {
      segmentation_details: { is_all_user_campaign: true },
      scheduling_details: scheduling,
    };
    const whole = { ...campaign, campaign_delivery_type: 'ONE_TIME', basic_details: { platforms: ['ANDROID'] } };
    expect(await client.composer.countLocalTimes({ workspaceId, campaign: whole as CampaignBody })).toEqual({
      state: 'NOT_LOCAL',
    });
    const { schedule } = await client.composer.check({ workspaceId, campaign: whole as CampaignBody });
    expect(schedule!.occurrences.map(occurrenceText)).toEqual([
      'on 30 Nov 2098 at 09:00 Europe/Berlin (30 Nov 2098, 08:00 UTC)',
    ]);
  });
});
