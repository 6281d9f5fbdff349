import { setTimeout } from 'node:timers/promises';
import { saveProviderCredential } from '../../../server/src/app/credentials.ts';
import { createKey } from '../../../server/src/app/keys/keys.ts';
import { defaultAppId } from '../../../server/src/domain/apps.ts';
import { openCredentials } from '../../../server/src/engine/credentials.ts';
import { inTransaction } from '../../../server/src/storage/database.ts';
import { listSimulatedCredentials } from '../../../server/src/storage/keys/provider-credentials.ts';
import { readProcessSeconds } from '../../../server/test/rig/processor-time.ts';
import { quantile } from '../kit/bench.ts';
import type { Bench, Case } from '../kit/bench.ts';
import {
  insertWorkspaces,
  partsOf,
  profilingEnvironment,
  pushedUsers,
  startInstallation,
} from '../kit/installation.ts';
import type { BenchWorkspace, Installation } from '../kit/installation.ts';
import { paceCalls } from '../kit/load.ts';
import type { HttpRequest } from '../kit/load.ts';
import { presentShares, watchProcessor } from '../kit/processor-shares.ts';

const icon = { icon_image_type: 'ICON_URL', icon_url: 'https://shop.example/i.png' };
const [workspaceCount, campaignCount, eventsPerRequest] = [20, 50, 500];
const goal = { eventsPerSecond: 1_000_000 / 60, p99Seconds: 5 };
/** The highest of a hundred prices is the one that campaigns match. */
const matchingPrice = 99;

type Events = { bundle: Installation; requests: HttpRequest[] };

/**
 * Twenty workspaces share the campaigns. Counts by SQL over the stored events: each trigger once, each message once, none
 * early; and the time from the event until its message was accepted.
 */
export const eventsCase: Case<'events', Events> = {
  async prepare(bench) {
    const { profile } = bench.options;
    const options = { devices: pushedUsers, windowDevices: 250, parallelChunks: 8, profile };
    const bundle = await startInstallation(bench, options);
    await bundle.importDevices();
    const workspaces = await insertWorkspaces(bundle, workspaceCount);
    await addCredentials(bundle, workspaces);
    const names = await addCampaigns(bundle, workspaces);
    const requests = await makeRequests(bundle, { ...bench.options, workspaces, names });
    await bundle.startWorker(undefined, profilingEnvironment(profile));
    await setTimeout(2_000);
    return { bundle, requests };
  },

  async run(bench, { bundle, requests }) {
    const { rate, seconds, kill, profile } = bench.options;
    const worker = bundle.workers[0]!;
    const readWorker = (): Promise<number> => readProcessSeconds(worker.process.pid!);
    const workerBefore = await readWorker();
    const pids = { api: () => bundle.api().process.pid!, ...(kill ? {} : { worker: () => worker.process.pid! }) };
    const endWatch = await watchProcessor(partsOf(bundle, pids));
    const begun = performance.now();
    const pace = { rate: rate / eventsPerRequest, seconds, connections: 8, requests };
    const load = paceCalls(bundle.url, { ...pace, words: '"status":"success"' });
    if (kill) await replaceWorker(bundle, (seconds * 1000) / 2);
    const waits = await load;
    const took = (performance.now() - begun) / 1000;
    const stored = waits.length * eventsPerRequest;
    const shares = await endWatch(stored);
    if (kill) await bundle.endLeases();
    await waitForTheEnd(bundle);
    await tell(bench, { bundle, stored, took, waits });
    bench.say(`while they came: ${presentShares(shares)}`);
    if (!kill) bench.say(`worker: ${((await readWorker()) - workerBefore).toFixed(1)} s of CPU in all`);
    // Its profile is written when it exits normally.
    if (profile !== undefined) await bundle.endWorker(bundle.workers[0]!, 'SIGTERM');
  },
};

/** Copies the credentials of the first workspace: the simulated providers know no others. */
export async function addCredentials(bundle: Installation, workspaces: readonly BenchWorkspace[]): Promise<void> {
  const { encryption, database } = bundle;
  const known = openCredentials(encryption, await listSimulatedCredentials(database));
  for (const { id: workspaceId } of workspaces)
    for (const credential of Object.values(known))
      await inTransaction(database, (tx) =>
        saveProviderCredential(bundle, tx, { workspaceId, appId: defaultAppId, credential, at: bundle.now() }),
      );
}

/** Creates campaigns through the campaign API, as a caller does. @returns the trigger event names of each workspace */
async function addCampaigns(
  bundle: Installation,
  workspaces: readonly BenchWorkspace[],
): Promise<Map<string, string[]>> {
  const names = new Map<string, string[]>();
  for (let number = 0; number < campaignCount; number += 1) {
    const { id } = workspaces[number % workspaces.length]!;
    const name = `Event ${number}`;
    const authorization = `Basic ${Buffer.from(`${id}:${await makeKey(bundle, { workspaceId: id, kind: 'campaigns' })}`).toString('base64')}`;
    const answer = await fetch(`${bundle.url}/core-services/v1/campaigns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization, 'svc-appkey': id },
      body: JSON.stringify(campaignOf(name)),
    });
    if (answer.status !== 201) throw new Error(`campaign: ${answer.status} ${await answer.text()}`);
    names.set(id, [...(names.get(id) ?? []), name]);
  }
  return names;
}

function campaignOf(name: string): object {
  const price = { name: 'price', data_type: 'double', operator: 'greaterThan', value: matchingPrice - 1 };
  const attributes = { filter_operator: 'and', filters: [price] };
  const filters = [{ filter_type: 'actions', action_name: name, attributes }];
  const text = { title: 'Come back', message: 'It waits for you.' };
  return {
    ...{ request_id: name, channel: 'PUSH', campaign_delivery_type: 'EVENT_TRIGGERED', created_by: 'bench' },
    basic_details: {
      ...{ name, platforms: ['ANDROID', 'IOS', 'WEB'] },
      platform_specific_details: { ios: { send_to_all_eligible_device: true } },
    },
    campaign_content: {
      content: {
        push: {
          android: { template_type: 'BASIC', basic_details: { ...text, notification_channel: 'shop' } },
          ios: { template_type: 'BASIC', basic_details: text },
          web: {
            template_type: 'BASIC',
            basic_details: { ...text, redirect_url: 'https://shop.example/' },
            advanced: icon,
          },
        },
      },
    },
    trigger_condition: { included_filters: { filter_operator: 'or', filters }, trigger_delay_type: 'ASAP' },
    segmentation_details: { is_all_user_campaign: true },
    scheduling_details: { delivery_type: 'ASAP' },
    delivery_controls: { bypass_dnd: false },
    advanced: { expiration_settings: { expire_notification_after_value: 1, expire_notification_after_type: 'DAY' } },
  };
}

async function makeKey(
  bundle: Installation,
  { workspaceId, kind }: { workspaceId: string; kind: 'campaigns' | 'data' },
): Promise<string> {
  const asked = { workspaceId, kind, name: `Bench ${kind} ${Math.random()}`, at: bundle.now() };
  return (await createKey({ encryption: bundle.encryption }, bundle.database, asked)).secret;
}

type Requesting = {
  rate: number;
  seconds: number;
  workspaces: readonly BenchWorkspace[];
  names: ReadonlyMap<string, string[]>;
};

async function makeRequests(
  bundle: Installation,
  { rate, seconds, workspaces, names }: Requesting,
): Promise<HttpRequest[]> {
  const keys = await Promise.all(workspaces.map(({ id }) => makeKey(bundle, { workspaceId: id, kind: 'data' })));
  const count = Math.ceil((rate * seconds) / eventsPerRequest);
  return Array.from({ length: count }, (_, number) => {
    const index = number % workspaces.length;
    const { id } = workspaces[index]!;
    const ofWorkspace = names.get(id)!;
    const elements = Array.from({ length: eventsPerRequest }, (__, event) => ({
      ...{ type: 'event', customer_id: `demo-user-${(number * 7919 + event) % pushedUsers}` },
      actions: [{ action: ofWorkspace[event % ofWorkspace.length], attributes: { price: event % 100, shop: 'Roma' } }],
    }));
    return {
      path: `/v1/transition/${id}`,
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Basic ${Buffer.from(`${id}:${keys[index]!}`).toString('base64')}`,
      },
      body: JSON.stringify({ type: 'transition', elements }),
    };
  });
}

async function replaceWorker(bundle: Installation, afterMilliseconds: number): Promise<void> {
  await setTimeout(afterMilliseconds);
  await bundle.endWorker(bundle.workers[0]!, 'SIGKILL');
  await bundle.startWorker();
}

/** Waits until no trigger is waiting and no run is open. */
async function waitForTheEnd({ database }: Installation): Promise<void> {
  for (;;) {
    const [row] = await database<{ open: number }[]>`
      select (select count(*) from triggers where state = 'WAITING')
        + (select count(*) from runs where status in ('QUEUED', 'SENDING')) as open`;
    if (row!.open === 0) return;
    await setTimeout(500);
  }
}

type Told = { bundle: Installation; stored: number; took: number; waits: readonly number[] };

async function tell(bench: Bench<'events'>, { bundle: { database }, stored, took, waits }: Told): Promise<void> {
  const [counted] = await database<
    { events: number; meant: number; triggers: number; messages: number; runs: number }[]
  >`
    select (select count(*) from events) as events,
      (select count(*) from (
        select distinct workspace_id, user_id, name, occurred_at from events
        where (attributes ->> 'price')::int >= ${matchingPrice}
      ) as one) as meant,
      (select count(*) from triggers where state = 'SENT') as triggers,
      (select count(*) from deliveries where outcome = 'A') as messages,
      (select count(*) from runs) as runs`;
  const delays = await database<{ seconds: number }[]>`
    select extract(epoch from deliveries.sent_at - triggers.due_at)::float8 as seconds
    from triggers
    join runs on runs.id = triggers.run_id
    join deliveries on deliveries.run_number = runs.number and deliveries.bucket = triggers.bucket
      and encode(deliveries.user_id, 'hex') = triggers.user_id
    order by 1`;
  const found = delays.map((row) => row.seconds);
  const { events: inStore, meant, triggers, messages, runs } = counted!;
  bench.say(
    `${inStore} events stored of ${stored} accepted; ${meant} start a campaign, ${triggers} triggers are in ${runs} runs, ` +
      `${messages} messages accepted; the earliest ${found[0]!.toFixed(3)} s after it was due`,
  );
  const isExact = inStore === stored && meant === triggers && triggers === messages && found[0]! >= 0;
  if (!isExact) bench.fail();
  const [p50, p99] = [quantile(found, 0.5), quantile(found, 0.99)];
  bench.compare({
    work: `events that are stored and compared with ${campaignCount} triggered campaigns`,
    ours: `${Math.round(stored / took)}/s, p99 of a request of 500 ${Math.round(quantile(waits, 0.99))} ms`,
    ...{ goal: `≥ ${Math.round(goal.eventsPerSecond)}/s`, isMet: stored / took >= goal.eventsPerSecond * 0.98 },
  });
  bench.compare({
    work: `${messages} messages that events started, from due to accepted`,
    ...{ ours: `p50 ${p50.toFixed(2)} s, p99 ${p99.toFixed(2)} s`, goal: `p99 < ${goal.p99Seconds} s` },
    isMet: isExact && (bench.options.kill || p99 < goal.p99Seconds),
  });
}
