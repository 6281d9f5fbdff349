import { makeId } from '../../src/domain/ids.ts';
import { ensureDeliveriesPartition, insertDeliveries } from '../../src/storage/ledger/deliveries.ts';
import type { DeliveryOutcome } from '../../src/storage/ledger/deliveries.ts';
import { start } from './data-bundle.ts';
import type { DataBundle } from './data-bundle.ts';
import { ledgerRun } from '../ledger-run.ts';

export type History = { campaignId: string; runId: string; segmentId: string; eventId: string };

/** Makes a segment of given members, as a cohort is one. */
export async function addSegment({ database, workspaceId }: DataBundle, name: string): Promise<string> {
  const id = makeId(start);
  await database`
    insert into segments (id, workspace_id, name, kind, state, source, cohort_id, partner, version, user_count,
      created_by, created_at, updated_at)
    values (${id}, ${workspaceId}, ${name}, 'COHORT', 'READY', 'PARTNER', ${id}, 'p', 1, 0, 'test', ${start}, ${start})`;
  return id;
}

export async function addMember({ database, workspaceId }: DataBundle, segmentId: string, customerId: string) {
  await database`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
    select workspace_id, bucket, ${segmentId}, id, 1 from users
    where workspace_id = ${workspaceId} and customer_id = ${customerId}`;
  await database`update segments set user_count = user_count + 1 where id = ${segmentId}`;
}

/** A run to a user's devices, all with one outcome, reported by them, and a conversion that followed. */
export async function addRun(bundle: DataBundle, customerId: string, outcome: DeliveryOutcome = 'ACCEPTED') {
  const { database, workspaceId } = bundle;
  const [campaignId, runId] = [makeId(start), makeId(start)];
  await database`
    insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
      created_by, created_at, updated_at)
    values (${campaignId}, ${workspaceId}, ${`C ${campaignId}`}, 'PUSH_API', 'ONE_TIME', 'USER', '{ANDROID}', '{}', '{}',
      'SENDING', 'test', ${start}, ${start})`;
  await database`
    insert into runs (id, workspace_id, campaign_id, lane, status, target_users, day, send_until, created_at, started_at)
    select ${runId}, workspace_id, ${campaignId}, 0, 'SENDING', jsonb_build_array(jsonb_build_array(bucket, id)),
      '2026-03-01', '2026-03-02', ${start}, ${start}
    from users where workspace_id = ${workspaceId} and customer_id = ${customerId}`;
  await ensureDeliveriesPartition(database, '2026-03-01');
  const devices = await database<{ id: string; userId: string; bucket: number }[]>`
    select devices.id, devices.user_id as "userId", devices.bucket
    from devices join users on users.workspace_id = devices.workspace_id and users.bucket = devices.bucket
      and users.id = devices.user_id
    where users.workspace_id = ${workspaceId} and users.customer_id = ${customerId}`;
  await insertDeliveries(database, {
    day: '2026-03-01',
    ...(await ledgerRun(database, runId)),
    sentAt: start,
    deliveries: devices.map((device) => ({
      ...device,
      deviceId: device.id,
      platform: 'ANDROID',
      outcome,
      code: null,
      providerMessageId: `message-of-${customerId}`,
      attempts: 1,
      retryAt: outcome === 'WAITING' ? start : null,
    })),
  });
  for (const { id, bucket } of devices)
    await database`
      insert into device_interactions (workspace_id, bucket, campaign_id, device_id, kind, run_id, platform,
        report_digests, count, first_at)
      values (${workspaceId}, ${bucket}, ${campaignId}, ${id}, 'CLICK', ${runId}, 'ANDROID', array[${Buffer.alloc(32, 1)}::bytea], 1,
        ${start})`;
  return { campaignId, runId };
}

/** Everything a person can leave behind: a device, an app, two runs, an event that is a conversion and starts a campaign, a membership. */
export async function addHistory(bundle: DataBundle, customerId: string): Promise<History> {
  const { database, workspaceId } = bundle;
  await bundle.addUser(customerId, { u_em: `${customerId}@example.com`, only: customerId, both: customerId });
  await bundle.addDevice(customerId, `phone-of-${customerId}`, { svc_gaid: `gaid-of-${customerId}` });
  const segmentId = await addSegment(bundle, `Segment ${makeId(start)}`);
  await addMember(bundle, segmentId, customerId);
  await addRun(bundle, customerId, 'REJECTED');
  const { campaignId, runId } = await addRun(bundle, customerId);
  await database`update campaigns set conversion_goals = '[{"eventName":"Bought"}]' where id = ${campaignId}`;
  await bundle.call('/v1/event/', {
    type: 'event',
    customer_id: customerId,
    device_id: `phone-of-${customerId}`,
    actions: [{ action: 'Bought', attributes: { for: customerId } }],
  });
  const [event] = await database`
    select id from events where workspace_id = ${workspaceId} and attributes ->> 'for' = ${customerId}`;
  await database`
    insert into conversions (workspace_id, bucket, campaign_id, goal, event_id, user_id, run_id, platform, occurred_at)
    select workspace_id, bucket, ${campaignId}, 0, id, user_id, ${runId}, 'ANDROID', occurred_at
    from events where id = ${event!.id as string}`;
  await database`
    insert into sandbox_messages (id, workspace_id, platform, device_token, title, body, collapse_id, message_id, payload,
      received_at)
    values (${makeId(start)}, ${workspaceId}, 'ANDROID', ${`token-${customerId}-phone-of-${customerId}`}, 't',
      ${`Hello ${customerId}`}, 'c', 'm', '{}', ${start})`;
  await database`
    insert into user_messages (workspace_id, bucket, user_id, revision, run_ids, campaign_ids, sent_at, is_counted)
    select workspace_id, bucket, id, 1, array[${runId}], array[${campaignId}], array[${start}::timestamptz], '{true}'
    from users where workspace_id = ${workspaceId} and customer_id = ${customerId}`;
  await database`
    insert into topic_choices (workspace_id, bucket, user_id, topic_id, is_in, source, chosen_at)
    select workspace_id, bucket, id, 'topic', false, 'APP', ${start}
    from users where workspace_id = ${workspaceId} and customer_id = ${customerId}`;
  await database`
    insert into inbox_messages (workspace_id, bucket, user_id, run_id, campaign_id, content, kept_at, expires_at, changed_at)
    select workspace_id, bucket, id, ${runId}, ${campaignId}, ${database.json({ title: `Hello ${customerId}` })}, ${start},
      ${start}::timestamptz + interval '30 days', ${start}
    from users where workspace_id = ${workspaceId} and customer_id = ${customerId}`;
  await database`
    insert into installations (workspace_id, bucket, id, secret_hash, key_id, registration, user_bucket, user_id, is_identified,
      created_at, refreshed_at)
    select workspace_id, 7, ${`app-of-${customerId}`}, ${Buffer.alloc(32, 1)}, 'key', '{}', bucket, id, true, ${start}, ${start}
    from users where workspace_id = ${workspaceId} and customer_id = ${customerId}`;
  await database`
    insert into app_event_ids (workspace_id, bucket, installation_id, event_id, received_at)
    values (${workspaceId}, 7, ${`app-of-${customerId}`}, ${`event-of-${customerId}`}, ${start})`;
  await database`
    insert into audience_limits (id, workspace_id, taken, sent) values (${runId}, ${workspaceId}, 1, 0)`;
  await database`
    insert into audience_seats (limit_id, run_id, bucket, user_id, workspace_id)
    select ${runId}, ${runId}, bucket, id, workspace_id from users
    where workspace_id = ${workspaceId} and customer_id = ${customerId}`;
  await database`
    insert into triggers (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at, received_at, attributes, due_at,
      state)
    select workspace_id, bucket, user_id, ${campaignId}, name, occurred_at, received_at, attributes, occurred_at, 'WAITING'
    from events where id = ${event!.id as string}`;
  return { campaignId, runId, segmentId, eventId: event!.id as string };
}
