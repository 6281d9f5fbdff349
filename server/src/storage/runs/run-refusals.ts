import type { Refusal, ToldRefusal } from '../../domain/delivery/evidence.ts';
import { inTransaction } from '../database.ts';
import type { Database, Fragment, Queryable, Transaction } from '../database.ts';
import { credentialsVersion } from '../keys/provider-credentials.ts';

/** Selects the refusals of a run as one value. Index: run_refusals_key. */
export const refusalsOfRun = (tx: Queryable): Fragment => tx`coalesce((
  select jsonb_agg(jsonb_build_object('provider', provider, 'appId', app_id, 'version', credentials, 'platform', platform,
    'evidenceKey', evidence_key, 'words', words) order by refused_at)
  from run_refusals where run_id = runs.id
), '[]')`;

type OfRun = { runId: string; workspaceId: string };

/**
 * Stores the refusals of a run. Call it before the deliveries that wait for them are stored: a transaction that retries
 * these deliveries deletes the refusals first, so the two wait for each other. Index: run_refusals_key.
 */
export async function noteRefusals(
  tx: Transaction,
  { runId, workspaceId, refusals, at }: OfRun & { refusals: readonly ToldRefusal[]; at: Date },
): Promise<void> {
  await tx`
    insert into run_refusals (run_id, workspace_id, provider, app_id, platform, credentials, evidence_key, words, refused_at)
    select ${runId}, ${workspaceId}, provider, app_id, platform, credentials, evidence_key, words, ${at}
    from unnest(
      ${refusals.map(({ provider }) => provider)}::text[], ${refusals.map(({ appId }) => appId)}::text[],
      ${refusals.map(({ platform }) => platform)}::text[], ${refusals.map(({ version }) => version)}::text[],
      ${refusals.map(({ evidenceKey }) => evidenceKey)}::text[], ${refusals.map(({ words }) => words)}::text[]
    ) as given (provider, app_id, platform, credentials, evidence_key, words)
    order by provider, app_id, platform, credentials, evidence_key
    on conflict do nothing`;
}

/**
 * Returns the refusals that are still stored, and keeps them from being deleted until the transaction ends. Index:
 * run_refusals_key.
 */
export async function keepRefusals(tx: Transaction, runId: string): Promise<Refusal[]> {
  return tx<Refusal[]>`
    select provider, app_id as "appId", platform, credentials as version, evidence_key as "evidenceKey" from run_refusals
    where run_id = ${runId} order by provider, app_id, platform, credentials, evidence_key for key share`;
}

/**
 * Shows the refusals on a run that continues for other devices, and which devices wait because of them. Index: primary
 * key, run_refusals_key.
 */
export async function showRefusals(tx: Transaction, runId: string): Promise<void> {
  await tx`
    update runs
    set status_reason = 'refused, so these devices wait: ' || (
      select string_agg(words, '; ' order by refused_at, words) from (
        select words, min(refused_at) as refused_at from run_refusals where run_id = ${runId} group by words
      ) as told
    )
    where id = ${runId} and status = 'SENDING'`;
}

type OpenRun = { id: string; number: number; day: string; sendUntil: Date };

/**
 * Makes the devices of a campaign's open runs that wait for a refused credential due now, and deletes the refusals.
 * Call it before the runs themselves are changed, as everywhere. Indexes: runs_campaign, run_refusals_key,
 * deliveries_waiting.
 */
export async function forgetCampaignRefusals(
  tx: Transaction,
  { campaignId, at }: { campaignId: string; at: Date },
): Promise<void> {
  const runs = await tx<OpenRun[]>`
    select id, number, day::text as day, send_until as "sendUntil" from runs
    where campaign_id = ${campaignId} and status in ('SENDING', 'PAUSED')
      and exists (select 1 from run_refusals where run_id = runs.id)
    order by id`;
  // A user who resumes wants all of the campaign's devices to be tried at the provider again.
  await tx`
    update provider_evidence
    set held_at = null, held_code = null, held_detail = null, held_until = null, held_for_sure = null, probed_at = null,
      updated_at = ${at}
    where held_at is not null and key in (
      select evidence_key from run_refusals where run_id = any(${runs.map(({ id }) => id)}) and evidence_key is not null
    )`;
  for (const run of runs) await forget(tx, { run, at });
}

const maxRunsAtOnce = 200;

/**
 * Continues runs whose refused credentials were replaced, are no longer held, or were accepted when they were checked
 * again. Their devices become due. Runs that were paused because of the refusal continue, unless their campaign is
 * paused. Each run has its own transaction. Skips runs that another node is changing. Reads the refusals of every open run.
 * Indexes: run_refusals_key, runs and provider_credentials primary keys.
 *
 * @returns the number of runs that continue
 */
export async function continueMendedRuns(database: Database, at: Date): Promise<number> {
  const mended = await database<{ id: string }[]>`
    select distinct runs.id
    from run_refusals as refusal join runs on runs.id = refusal.run_id and runs.status in ('SENDING', 'PAUSED')
    where refusal.credentials <> coalesce((
        select ${credentialsVersion(database, database``)} from provider_credentials
        where workspace_id = refusal.workspace_id and provider = refusal.provider having count(*) > 0
      ), '')
      or refusal.evidence_key is not null and not exists (
        select 1 from provider_evidence as evidence
        where evidence.key = refusal.evidence_key and evidence.held_at is not null
      )
      or refusal.evidence_key is null and exists (
        select 1 from provider_credentials as checked
        where checked.workspace_id = refusal.workspace_id and checked.provider = refusal.provider
          and checked.app_id = refusal.app_id and checked.check_verdict = 'ACCEPTED'
          and checked.checked_at > refusal.refused_at
      )
    order by runs.id limit ${maxRunsAtOnce}`;
  for (const { id } of mended) await inTransaction(database, (tx) => continueRun(tx, { id, at }));
  return mended.length;
}

async function continueRun(tx: Transaction, { id, at }: { id: string; at: Date }): Promise<void> {
  const [run] = await tx<OpenRun[]>`
    select id, number, day::text as day, send_until as "sendUntil" from runs
    where id = ${id} and status in ('SENDING', 'PAUSED')`;
  if (!run) return;
  await forget(tx, { run, at });
  await tx`
    update runs set status = 'SENDING', status_reason = null, paused_platform = null
    from campaigns
    where runs.id = ${id} and campaigns.id = runs.campaign_id
      and (runs.status = 'SENDING' or runs.status = 'PAUSED' and runs.paused_platform is not null and campaigns.status <> 'PAUSED')`;
}

async function forget(tx: Transaction, { run, at }: { run: OpenRun; at: Date }): Promise<void> {
  // In the same order as keepRefusals, so that no transactions deadlock.
  await tx`
    select 1 from run_refusals where run_id = ${run.id} order by provider, app_id, platform, credentials, evidence_key
    for update`;
  await tx`delete from run_refusals where run_id = ${run.id}`;
  // No other delivery waits until the message expires.
  await tx`
    update deliveries set retry_at = ${at}
    where day = ${run.day}::date and run_number = ${run.number}::bigint and outcome <> 'A'
      and outcome = 'W' and retry_at >= ${run.sendUntil} and retry_at > ${at}`;
}
