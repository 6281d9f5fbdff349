/**
 * Measures events that start campaigns: bulk requests of 500 events from twenty workspaces that share 50 triggered campaigns,
 * at an even rate. One event of a hundred matches a campaign that sends at once. One node of role `api`, one worker. Counts by
 * SQL over the stored events: each trigger once, each message once, none early; and the time from the event until its message
 * was accepted.
 *
 * Usage: npm run bench -- events [--rate 16667] [--seconds 30] [--kill] [--profile FOLDER]: with `--kill` the worker is killed
 *        (SIGKILL) halfway, and another starts; `--profile` writes CPU profiles of the nodes
 */
import { cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { saveProviderCredential } from '../../server/src/app/credentials.ts';
import { createKey } from '../../server/src/app/keys/keys.ts';
import { defaultAppId } from '../../server/src/domain/apps.ts';
import { openCredentials } from '../../server/src/engine/credentials.ts';
import { inTransaction } from '../../server/src/storage/database.ts';
import { listSimulatedCredentials } from '../../server/src/storage/keys/provider-credentials.ts';
import { makeTortureBundle } from '../../server/test/rig/installation.ts';
import { readProcessSeconds, readServerSeconds } from '../../server/test/rig/processor-time.ts';
import { tellComparison } from './comparison.ts';
import { insertWorkspaces } from './insert-workspaces.ts';
import type { BenchWorkspace } from './insert-workspaces.ts';
import { quantile } from './median.ts';
import { paceCalls } from './pace-calls.ts';
import { presentShares, watchProcessor } from './processor-shares.ts';
import { endByItself, profilingNodes } from './profiling.ts';
import type { HttpRequest } from './run-wrk.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'events'),
  options: {
    rate: { type: 'string', default: '16667' },
    seconds: { type: 'string', default: '30' },
    kill: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});
const icon = { icon_image_type: 'ICON_URL', icon_url: 'https://shop.example/i.png' };
const [rate, seconds] = [Number(values.rate), Number(values.seconds)];
const [workspaceCount, campaignCount, users, eventsPerRequest] = [20, 50, 1_000, 500];
const goal = { eventsPerSecond: 1_000_000 / 60, p99Seconds: 5 };
/** The highest of a hundred prices is the one that campaigns match. */
const meantPrice = 99;

process.stdout.write(`machine: ${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
const bundle = await makeTortureBundle({
  ...{ seed: 1, devices: users, rounds: 0, windowDevices: 250, parallelChunks: 8 },
  ...profilingNodes(values.profile),
});
try {
  await bundle.importDevices();
  const workspaces = await insertWorkspaces(bundle, workspaceCount);
  await addCredentials(workspaces);
  const eventNames = await addCampaigns(workspaces);
  const requests = await makeRequests(workspaces, eventNames);
  const worker = await bundle.startWorker();
  await setTimeout(2_000);
  const workerBefore = await cpuOf(worker.process.pid!);
  const endWatch = await watchProcessor([
    { name: 'api', readSeconds: () => cpuOf(bundle.api().process.pid!) },
    { name: 'worker', readSeconds: () => (values.kill ? Promise.resolve(0) : cpuOf(worker.process.pid!)) },
    { name: 'database', readSeconds: () => readServerSeconds(bundle.database) },
  ]);
  const begun = performance.now();
  const perSecond = rate / eventsPerRequest;
  const load = paceCalls(bundle.url, {
    rate: perSecond,
    seconds,
    connections: 8,
    requests,
    words: '"status":"success"',
  });
  if (values.kill) await replaceWorker((seconds * 1000) / 2);
  const waits = await load;
  const took = (performance.now() - begun) / 1000;
  const shares = await endWatch(waits.length * eventsPerRequest);
  if (values.kill) await bundle.endLeases();
  await waitForTheEnd();
  await tell({ stored: waits.length * eventsPerRequest, took, waits });
  process.stdout.write(`while they came: ${presentShares(shares)}\n`);
  if (!values.kill)
    process.stdout.write(`worker: ${((await cpuOf(worker.process.pid!)) - workerBefore).toFixed(1)} s of CPU in all\n`);
  if (values.profile !== undefined) {
    await bundle.endWorker(bundle.workers[0]!, 'SIGTERM');
    await endByItself(bundle.api());
  }
} finally {
  await bundle.stop();
}

/** Copies the credentials of the first workspace: the simulated providers know no others. */
async function addCredentials(workspaces: readonly BenchWorkspace[]): Promise<void> {
  const { encryption, database } = bundle;
  const known = openCredentials(encryption, await listSimulatedCredentials(database));
  for (const { id: workspaceId } of workspaces)
    for (const credential of Object.values(known))
      await inTransaction(database, (tx) =>
        saveProviderCredential(bundle, tx, { workspaceId, appId: defaultAppId, credential, at: bundle.now() }),
      );
}

function cpuOf(pid: number): Promise<number> {
  return readProcessSeconds(pid);
}

/** Creates campaigns through the campaign API, as a caller does. @returns the trigger event names of each workspace */
async function addCampaigns(workspaces: readonly BenchWorkspace[]): Promise<Map<string, string[]>> {
  const names = new Map<string, string[]>();
  for (let number = 0; number < campaignCount; number += 1) {
    const { id } = workspaces[number % workspaces.length]!;
    const name = `Event ${number}`;
    const authorization = `Basic ${Buffer.from(`${id}:${await makeKey(id, 'campaigns')}`).toString('base64')}`;
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
  const price = { name: 'price', data_type: 'double', operator: 'greaterThan', value: meantPrice - 1 };
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

async function makeKey(workspaceId: string, kind: 'campaigns' | 'data'): Promise<string> {
  const asked = { workspaceId, kind, name: `Bench ${kind} ${Math.random()}`, at: bundle.now() };
  return (await createKey({ encryption: bundle.encryption }, bundle.database, asked)).secret;
}

async function makeRequests(
  workspaces: readonly BenchWorkspace[],
  names: ReadonlyMap<string, string[]>,
): Promise<HttpRequest[]> {
  const keys = await Promise.all(workspaces.map(({ id }) => makeKey(id, 'data')));
  const count = Math.ceil((rate * seconds) / eventsPerRequest);
  return Array.from({ length: count }, (_, number) => {
    const place = number % workspaces.length;
    const { id } = workspaces[place]!;
    const ofWorkspace = names.get(id)!;
    const elements = Array.from({ length: eventsPerRequest }, (__, index) => ({
      ...{ type: 'event', customer_id: `demo-user-${(number * 7919 + index) % users}` },
      actions: [{ action: ofWorkspace[index % ofWorkspace.length], attributes: { price: index % 100, shop: 'Roma' } }],
    }));
    return {
      path: `/v1/transition/${id}`,
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Basic ${Buffer.from(`${id}:${keys[place]!}`).toString('base64')}`,
      },
      body: JSON.stringify({ type: 'transition', elements }),
    };
  });
}

async function replaceWorker(afterMilliseconds: number): Promise<void> {
  await setTimeout(afterMilliseconds);
  await bundle.endWorker(bundle.workers[0]!, 'SIGKILL');
  await bundle.startWorker();
}

/** Waits until no trigger is waiting and no run is open. */
async function waitForTheEnd(): Promise<void> {
  for (;;) {
    const [row] = await bundle.database<{ open: number }[]>`
      select (select count(*) from triggers where state = 'WAITING')
        + (select count(*) from runs where status in ('QUEUED', 'SENDING')) as open`;
    if (row!.open === 0) return;
    await setTimeout(500);
  }
}

async function tell({ stored, took, waits }: { stored: number; took: number; waits: number[] }): Promise<void> {
  const { database } = bundle;
  const [counted] = await database<
    { events: number; meant: number; triggers: number; messages: number; runs: number }[]
  >`
    select (select count(*) from events) as events,
      (select count(*) from (
        select distinct workspace_id, user_id, name, occurred_at from events
        where (attributes ->> 'price')::int >= ${meantPrice}
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
  const { events, meant, triggers, messages, runs } = counted!;
  process.stdout.write(
    `${events} events stored of ${stored} accepted; ${meant} start a campaign, ${triggers} triggers are in ${runs} runs, ` +
      `${messages} messages accepted; the earliest ${found[0]!.toFixed(3)} s after it was due\n`,
  );
  const isExact = events === stored && meant === triggers && triggers === messages && found[0]! >= 0;
  if (!isExact) process.exitCode = 1;
  const [p50, p99] = [quantile(found, 0.5), quantile(found, 0.99)];
  tellComparison({
    ...{
      budget: 'P11',
      work: `events that are stored and compared with ${campaignCount} triggered campaigns`,
      ratio: null,
    },
    ...{
      ours: `${Math.round(stored / took)}/s, p99 of a request of 500 ${Math.round(quantile(waits, 0.99))} ms`,
      peer: '–',
    },
    ...{ goal: `≥ ${Math.round(goal.eventsPerSecond)}/s`, isMet: stored / took >= goal.eventsPerSecond * 0.98 },
  });
  tellComparison({
    ...{
      budget: 'P11',
      work: `${messages} messages that events started, from due to accepted`,
      peer: '–',
      ratio: null,
    },
    ...{ ours: `p50 ${p50.toFixed(2)} s, p99 ${p99.toFixed(2)} s`, goal: `p99 < ${goal.p99Seconds} s` },
    isMet: isExact && (values.kill || p99 < goal.p99Seconds),
  });
}
