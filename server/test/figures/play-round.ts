import { recordInteractions } from '../../src/app/interactions.ts';
import type { ReceivedReport } from '../../src/app/interactions.ts';
import { reportDigest } from '../../src/domain/events/interactions.ts';
import type { Platform } from '../../src/domain/content/content.ts';
import type { AttributionType } from '../../src/domain/campaigns/conversions.ts';
import { waitForRunEnd } from '../rig/fleet.ts';
import type { Fleet, FleetNode } from '../rig/fleet.ts';
import type { EventReceiver } from '../rig/receivers.ts';
import type { Call } from '../rig/caller.ts';
import { until } from '../rig/until.ts';
import { compareFigures } from './compare-figures.ts';
import type { Comparison } from './compare-figures.ts';

export const percents = [40, 30, 20, 10];
export const locales = ['default', 'de', 'pt'];
export const controlPercents = { global: 10, campaign: 5 };

type Round = {
  fleet: Fleet;
  call: Call;
  receiver: EventReceiver;
  name: string;
  users: number;
  /** Nodes that send at one time. */
  workers: number;
  /** Whether one of them is killed (SIGKILL) when a third of the devices have got it, and another started. */
  isKilled: boolean;
};

export type Played = Comparison & {
  campaignId: string;
  seconds: number;
  /** Messages that reached a device once more: of a worker that was killed, or a reply that was not waited for. */
  repeats: number;
  events: number;
};

/** One campaign of three locales, four variations and two control groups, from its first message to its figures. */
export async function playRound(round: Round): Promise<Played> {
  const { fleet, workers } = round;
  const started = await Promise.all(Array.from({ length: workers }, () => fleet.startWorker()));
  try {
    return await playWith(started, round);
  } finally {
    await Promise.all(started.map((worker) => fleet.end(worker, 'SIGTERM')));
  }
}

/** Who is killed leaves the list, and who takes the place is added. */
async function playWith(started: FleetNode[], round: Round): Promise<Played> {
  const { fleet, call, name, receiver } = round;
  const event = `Bought ${name}`;
  const campaignId = await createCampaign(call, { name, event });
  const begin = performance.now();
  await send(started, { round, campaignId });
  const seconds = (performance.now() - begin) / 1000;
  const wrong = await compareDevices(fleet, campaignId);
  await reportAll(round, campaignId);
  await buy(call, { event, users: round.users });
  const { observer } = fleet;
  await until('the events of users', {
    seconds: 600,
    async look() {
      const [row] = await observer<{ left: number }[]>`select count(*) as left from unattributed_events`;
      return row!.left === 0;
    },
  });
  const today = new Date();
  const day = (offset: number): string => new Date(today.getTime() + offset * 86_400_000).toISOString().slice(0, 10);
  const span = { start_date: day(-1), end_date: day(1), metric_type: 'TOTAL' };
  const statsOf = async (attribution: AttributionType): Promise<any> => {
    const asked = { request_id: 'r1', campaign_ids: [campaignId], ...span, attribution_type: attribution };
    return (await call('POST', '/v1/campaign-stats', asked)).data[campaignId][0];
  };
  const shared = { workspaceId: fleet.workspaceId, percents };
  const compared = await compareFigures(observer, {
    ...{ campaignId, event, goal: 'Bought', statsOf },
    shares: { ...shared, globalPercent: controlPercents.global, campaignPercent: controlPercents.campaign },
  });
  wrong.push(...compared.wrong, ...(await compareReportFile(round, { campaignId, span, statsOf })));
  const events = await compareEvents(round, { campaignId, compared });
  const devices = (await fleet.collector.read([campaignId])).of(campaignId);
  const requests = [...devices.values()].reduce((sum, { requests: own }) => sum + own, 0);
  return {
    ...{ ...compared, campaignId, seconds, repeats: requests - devices.size },
    ...{
      wrong: [...wrong, ...events.wrong],
      events: [...receiver.told(campaignId).values()].reduce((a, b) => a + b, 0),
    },
  };
}

async function createCampaign(call: Call, { name, event }: { name: string; event: string }): Promise<string> {
  const draft = await call('POST', '/v5/campaigns', {
    ...{ channel: 'PUSH', campaign_delivery_type: 'ONE_TIME', created_by: 'figures' },
    basic_details: { name, platforms: ['ANDROID', 'IOS', 'WEB'] },
    campaign_content: contentInEveryLocale(),
    segmentation_details: { is_all_user_campaign: true },
    scheduling_details: { delivery_type: 'ASAP' },
    control_group_details: {
      ...{ is_campaign_control_group_enabled: true, campaign_control_group_percentage: controlPercents.campaign },
      is_global_control_group_enabled: true,
    },
    conversion_goal_details: {
      attribution_window_in_hours: 24,
      goals: [{ goal_name: 'Bought', goal_event_name: event, revenue_attribute: 'price', revenue_currency: 'EUR' }],
    },
  });
  const { id } = draft.data as { id: string };
  await call('PATCH', `/v5/campaigns/${id}/status`, { action: 'PUBLISH' });
  return id;
}

/** Each variation of each locale has a separate title, for all three platforms. */
function contentInEveryLocale() {
  const push = (title: string) => {
    const basic = { template_type: 'BASIC', basic_details: { title, message: 'M' } };
    return {
      android: { ...basic, basic_details: { ...basic.basic_details, notification_channel: 'news' } },
      ios: basic,
      web: {
        template_type: 'BASIC',
        basic_details: { ...basic.basic_details, redirect_url: 'https://a.example/' },
        advanced: { icon_image_type: 'ICON_URL', icon_url: 'https://a.example/icon.png' },
      },
    };
  };
  const ofVariations = <Value>(make: (percent: number, number: number) => Value) =>
    Object.fromEntries(percents.map((percent, index) => [`variation_${index + 1}`, make(percent, index + 1)]));
  return {
    locales,
    variation_details: {
      no_of_variations: percents.length,
      distribution_type: 'MANUAL',
      manual_distribution_percentage: ofVariations((percent) => percent),
    },
    content: Object.fromEntries(
      locales.map((locale) => [locale, ofVariations((_percent, number) => ({ push: push(`${locale} ${number}`) }))]),
    ),
  };
}

type Sending = { round: Round; campaignId: string };

async function send(started: FleetNode[], { round: { fleet, users, isKilled }, campaignId }: Sending): Promise<void> {
  if (isKilled) {
    await until('a third of the devices', {
      seconds: 300,
      look: async () => (await fleet.collector.reached(campaignId)) > users / 3,
    });
    await fleet.end(started.shift()!, 'SIGKILL');
    started.push(await fleet.startWorker());
  }
  const run = await waitForRunEnd(fleet, campaignId);
  if (run.status !== 'SENT') throw new Error(`the run ended ${run.status} (${run.reason})`);
}

/** Compares what devices got with the ledger: each got one content, even if it was sent twice. */
async function compareDevices({ collector, observer }: Fleet, campaignId: string): Promise<string[]> {
  const got = new Map<string, number>();
  let mixed = 0;
  for (const [address, { titles, identities }] of (await collector.read([campaignId])).of(campaignId)) {
    if (titles.length !== 1 || identities.length !== 1) mixed += 1;
    const what = `${address.split(':', 1)[0]} ${titles[0]}`;
    got.set(what, (got.get(what) ?? 0) + 1);
  }
  const rows = await observer<{ what: string; devices: number }[]>`
    select platform || ' ' || locale || ' ' || variation as what, count(*) as devices from readable_deliveries as deliveries
    where campaign_id = ${campaignId} and outcome = 'ACCEPTED' group by 1`;
  const wrong = rows
    .filter(({ what, devices }) => got.get(what) !== devices)
    .map(({ what, devices }) => `${what}: ${got.get(what)} devices got it, the ledger has ${devices}`);
  if (got.size !== rows.length) wrong.push(`devices got ${got.size} contents, the ledger has ${rows.length}`);
  return mixed === 0 ? wrong : [...wrong, `${mixed} devices got more than one content or identity`];
}

const kinds = { impression: 2, click: 5, close: 7 } as const;

/** Of the devices that got the message, every second, fifth or seventh reports it; those with an even place report twice. */
async function reportAll({ fleet: { observer, workspaceId } }: Round, campaignId: string): Promise<void> {
  for (const [kind, every] of Object.entries(kinds) as [keyof typeof kinds, number][]) {
    const sent = await observer<
      { bucket: number; runId: string; deviceId: string; platform: Platform; variation: number; locale: number }[]
    >`
      select bucket, run_id as "runId", device_id as "deviceId", platform, variation,
        array_position(${locales}::text[], locale) as locale
      from (
        select *, row_number() over (order by device_id) as place from readable_deliveries as deliveries
        where campaign_id = ${campaignId} and outcome = 'ACCEPTED'
      ) as placed where place % ${every} = 0`;
    const at = new Date();
    const reports = sent.flatMap(({ variation, locale, ...message }, place): ReceivedReport[] =>
      (place % 2 === 0 ? ['1', '2'] : ['1']).map((name) => ({
        subject: { ...message, workspaceId, variant: { variation, locale } },
        ...{ kind, action: null, at, digest: reportDigest(`${kind} ${name}`) },
      })),
    );
    for (let from = 0; from < reports.length; from += 1_000)
      await recordInteractions({ database: observer, since: new Date(0) }, reports.slice(from, from + 1_000));
  }
}

const elementsOfRequest = 100;

/** Every fortieth user buys, some of them twice. */
async function buy(call: Call, { event, users }: { event: string; users: number }): Promise<void> {
  const buyers = Array.from({ length: Math.floor(users / 40) }, (_, place) => place * 40);
  const elements = buyers.map((number) => {
    const action = { action: event, attributes: { price: number / 10 } };
    return {
      type: 'event',
      customer_id: `demo-user-${number}`,
      actions: number % 120 === 0 ? [action, action] : [action],
    };
  });
  for (let from = 0; from < elements.length; from += elementsOfRequest)
    await call('POST', `/v1/transition/${call.workspaceId}`, {
      ...{ type: 'transition', elements: elements.slice(from, from + elementsOfRequest) },
    });
}

type Filed = { campaignId: string; span: object; statsOf: (attribution: AttributionType) => Promise<any> };

async function compareReportFile(
  { call, fleet: { observer } }: Round,
  { campaignId, span, statsOf }: Filed,
): Promise<string[]> {
  const asked = { request_id: 'r1', campaign_ids: [campaignId], ...span, attribution_type: 'VIEW_THROUGH' };
  const { path, signature, file_name: name } = await call('POST', '/v1/campaign-reports', asked);
  await until('the report file', {
    seconds: 120,
    async look() {
      const [file] = await observer<{ state: string }[]>`select state from report_files where name = ${name}`;
      return file!.state === 'READY';
    },
  });
  const { platforms } = JSON.parse(await call.readGzip(path, { signature }));
  const shown = await statsOf('VIEW_THROUGH');
  return JSON.stringify({ platforms }) === JSON.stringify(shown) ? [] : ['the report file differs from the statistics'];
}

type Streamed = { campaignId: string; compared: Comparison };

/** Every message, click and close, and each user of a control group, under one uuid. */
async function compareEvents({ fleet: { observer }, receiver }: Round, { campaignId, compared }: Streamed) {
  await until('the event stream', {
    seconds: 600,
    async look() {
      const [row] = await observer<{ left: number }[]>`
        select (select count(*) from event_stream_marks) + (select count(*) from event_stream_batches) as left`;
      return row!.left === 0;
    },
  });
  const told = receiver.told(campaignId);
  const expected = new Map<string, number>();
  const add = (what: string, count: number): void => {
    if (count > 0) expected.set(what, (expected.get(what) ?? 0) + count);
  };
  for (const { platform, locale, variation, ...numbers } of compared.messages) {
    if (locale === null || variation === null) continue;
    const of = `${locale} variation_${variation}`;
    for (const [member, code] of Object.entries(codes[platform as 'WEB'])) add(`${code} ${of}`, numbers[member]!);
  }
  for (const { group, users } of compared.drawn) if (group !== null) add(`SVC_CAMPAIGN_CONTROL_GROUP ${group}`, users);
  const wrong = [...new Set([...told.keys(), ...expected.keys()])]
    .filter((what) => told.get(what) !== expected.get(what))
    .map((what) => `event ${what}: ${told.get(what)} were told, ${expected.get(what)} counted`);
  return { wrong };
}

/** Which number of a platform is which event. */
const codes = {
  ANDROID: {
    sent: 'NOTIFICATION_RECEIVED_SVC',
    click: 'NOTIFICATION_CLICKED_SVC',
    closed_click: 'NOTIFICATION_CLEARED_SVC',
  },
  IOS: { sent: 'n_i_s', click: 'NOTIFICATION_CLICKED_IOS_SVC', closed_click: 'NOTIFICATION_CLEARED_IOS_SVC' },
  WEB: {
    sent: 'NOTIFICATION_RECEIVED_WEB_SVC',
    click: 'NOTIFICATION_CLICKED_WEB_SVC',
    closed_click: 'NOTIFICATION_CLEARED_WEB_SVC',
  },
} as const;
