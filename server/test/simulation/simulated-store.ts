import type { Clock } from '../../src/clock.ts';
import type { ProviderCredentials, ProviderName } from '../../src/domain/delivery/providers.ts';
import { stateMachines } from '../../src/domain/state-machines.ts';
import type { Database } from '../../src/storage/database.ts';
import { listProviderCredentials } from '../../src/storage/keys/provider-credentials.ts';
import { outcomeLetters } from '../../src/storage/ledger/ledger-encoding.ts';
import type { Random } from '../rig/random.ts';
import type { AccountTroubles, WorldProvider } from './simulated-answers.ts';
import type { SimulatedRequest } from './simulated-providers.ts';

/** Takes away what the seed before left, however it ended. */
export async function clearSimulation(database: Database): Promise<void> {
  await database.unsafe(`
    delete from deliveries; delete from run_counts; delete from run_cursors; delete from run_refusals; delete from provider_evidence; delete from chunks; delete from push_requests; delete from runs;
    delete from campaign_names; delete from campaigns; delete from user_messages; delete from devices;
    delete from users; delete from send_budgets; delete from transaction_receipts; delete from provider_credentials; delete from workspaces`);
}

/**
 * Runs that one firing made were made at one instant, and which of them is released first is left to the database: here
 * the instants are set apart, so that a replay has the order it had.
 */
export async function separateRuns(database: Database): Promise<void> {
  await database`
    update runs set created_at = runs.created_at + place.number * interval '1 millisecond'
    from (
      select runs.id, row_number() over (partition by runs.created_at order by campaigns.name, runs.moment) - 1 as number
      from runs join campaigns on campaigns.id = runs.campaign_id where runs.status = 'QUEUED'
    ) as place
    where runs.id = place.id and place.number > 0`;
}

/** Audiences here are too small to be cut; chunks that nobody has begun are cut in two. */
export async function splitChunks(database: Database, random: Random): Promise<void> {
  const at = random.between(0, 254);
  await database`
    with cut as (
      update chunks set bucket_to = ${at}
      where state = 'READY' and attempt = 0 and number = 0 and bucket_from = 0 and bucket_to = 255
      returning *
    )
    insert into chunks (run_id, number, workspace_id, lane, bucket_from, bucket_to, state, not_before, created_at)
    select run_id, 1, workspace_id, lane, ${at + 1}, 255, 'READY', not_before + interval '1 millisecond',
      created_at + interval '1 millisecond'
    from cut`;
}

type OpenCampaign = {
  id: string;
  status: string;
  /** A provider refused the credential of a run, which waits for somebody to resume it. */
  isRefused: boolean;
};

export async function listOpenCampaigns(database: Database): Promise<OpenCampaign[]> {
  return database<OpenCampaign[]>`
    select campaigns.id, campaigns.status,
      campaigns.status <> 'PAUSED' and exists (
        select 1 from runs where runs.campaign_id = campaigns.id and runs.status = 'PAUSED'
      ) as "isRefused"
    from campaigns
    where campaigns.status not in ('SENT', 'FAILED', 'STOPPED', 'RETIRED')
      or exists (
        select 1 from runs where runs.campaign_id = campaigns.id and runs.status in ('QUEUED', 'SENDING', 'PAUSED')
      )
      or exists (
        select 1 from chunks join runs on runs.id = chunks.run_id
        where runs.campaign_id = campaigns.id and chunks.state in ('READY', 'CLAIMED')
      )
    order by campaigns.name`;
}

/** Whether runs wait for a credential that is held until one of its devices is accepted. */
export async function hasHeldRuns(database: Database): Promise<boolean> {
  const [row] = await database<{ isHeld: boolean }[]>`
    select exists (
      select 1 from provider_evidence join run_refusals on evidence_key = key
      join runs on runs.id = run_id and runs.status in ('SENDING', 'PAUSED')
      where held_at is not null
    ) as "isHeld"`;
  return row!.isHeld;
}

type DueWork = {
  jobs: ('fire' | 'release')[];
  tasks: ('chunk' | 'retry')[];
  /** Until something is due: an occurrence, a retry, a chunk or the end of a lease. */
  inMilliseconds: number;
};

const dayMilliseconds = 86_400_000;

export async function findDueWork(database: Database, clock: Clock): Promise<DueWork> {
  const [now, realNow] = [clock.now(), clock.realNow()];
  type Dates = { fire: Date | null; retry: Date | null; chunk: Date | null; lease: Date | null };
  const [row] = await database<(Dates & { isQueued: boolean })[]>`
    select
      (select min(next_at) from campaigns where status in ('SCHEDULED', 'ACTIVE')) as fire,
      exists (select 1 from runs where status = 'QUEUED') as "isQueued",
      (select min(retry_at) from readable_deliveries as deliveries join runs on runs.id = run_id
          and (runs.status = 'SENDING' or runs.status = 'PAUSED' and runs.paused_platform is not null)
        where outcome = 'WAITING' and (lease_until is null or lease_until <= ${realNow})) as retry,
      (select min(not_before) from chunks join runs on runs.id = run_id and runs.status = 'SENDING'
        where state = 'READY' or state = 'CLAIMED' and lease_until <= ${realNow}) as chunk,
      least(
        (select min(lease_until) from chunks where state = 'CLAIMED' and lease_until > ${realNow}),
        (select min(lease_until) from readable_deliveries as deliveries where outcome = 'WAITING' and lease_until > ${realNow})
      ) as lease`;
  const { fire, retry, chunk, lease, isQueued } = row!;
  const isDue = (at: Date | null): boolean => at !== null && at <= now;
  const waits = [fire, retry, chunk].flatMap((at) => (at ? [at.getTime() - now.getTime()] : []));
  return {
    jobs: [...(isDue(fire) ? (['fire'] as const) : []), ...(isQueued ? (['release'] as const) : [])],
    tasks: [...(isDue(chunk) ? (['chunk'] as const) : []), ...(isDue(retry) ? (['retry'] as const) : [])],
    inMilliseconds: Math.min(dayMilliseconds, ...waits, ...(lease ? [lease.getTime() - realNow.getTime()] : [])),
  };
}

/** A stored credential of each provider, of which only its version counts here. */
async function storeCredentials(
  database: Database,
  { workspaceId, providers, at }: { workspaceId: string; providers: readonly ProviderName[]; at: Date },
): Promise<void> {
  await database`
    insert into provider_credentials (workspace_id, provider, app_id, sealed, summary, simulated, updated_at)
    select ${workspaceId}, provider, 'default', ''::bytea, '{}', true, ${at} from unnest(${[...providers]}::text[]) as given (provider)
    on conflict (workspace_id, provider, app_id) do update set updated_at = excluded.updated_at`;
}

/** The version of each provider's credentials, as the product tells them apart. */
async function readCredentialVersions(database: Database, workspaceId: string): Promise<Map<string, string>> {
  const rows = await listProviderCredentials(database, workspaceId);
  return new Map(rows.map(({ provider, version }) => [provider, version]));
}

/** Runs that the product paused by itself, since nobody of theirs can be reached. */
async function listSelfPausedRuns(database: Database): Promise<string[]> {
  const rows = await database<{ id: string }[]>`
    select runs.id from runs join campaigns on campaigns.id = runs.campaign_id
    where runs.status = 'PAUSED' and campaigns.status <> 'PAUSED' order by runs.created_at, runs.id`;
  return rows.map(({ id }) => id);
}

type Options = {
  database: Database;
  clock: Clock;
  /** Names the accounts: other ones than the last seed's, which may have been asked to wait. */
  seed: number;
  world: { workspaceId: string; hasHms: boolean };
  troubles: AccountTroubles;
};

/** Stores the credentials of a workspace, and replaces one when a user corrects what was wrong with it. */
export async function makeStoredCredentials({ database, clock, seed, world, troubles }: Options) {
  const { workspaceId, hasHms } = world;
  const credentials = {
    fcm: { projectId: `p${seed}`, simulated: true },
    apns: { teamId: `t${seed}`, simulated: true },
    webpush: { publicKey: `k${seed}` },
    ...(hasHms ? { hms: { owner: { kind: 'app', id: `h${seed}` }, simulated: true } } : {}),
  } as unknown as ProviderCredentials;
  const providers = Object.keys(credentials) as WorldProvider[];
  const corrected = new Map<WorldProvider, number>();
  await storeCredentials(database, { workspaceId, providers, at: clock.now() });
  let versions = await readCredentialVersions(database, workspaceId);
  return {
    credentials,
    versionOf: (provider: ProviderName): string => versions.get(provider) ?? '',
    /** Stores what was corrected by now. @returns of which providers */
    async correct(): Promise<WorldProvider[]> {
      const due = providers.filter((name) => troubles.corrections(name) > (corrected.get(name) ?? 0));
      if (due.length === 0) return due;
      for (const name of due) corrected.set(name, troubles.corrections(name));
      await storeCredentials(database, { workspaceId, providers: due, at: clock.now() });
      versions = await readCredentialVersions(database, workspaceId);
      return due;
    },
  };
}

/** A run that the product paused by itself. */
export type SelfPause = { runId: string; realAt: number; requestsBefore: number };

type Watched = { database: Database; clock: Clock; requests: readonly SimulatedRequest[] };

/** Notes when the product pauses a run by itself, which it can do only for an answer. */
export function makePauseWatch({ database, clock, requests }: Watched) {
  const pauses: SelfPause[] = [];
  let known = new Set<string>();
  let requestsBefore = 0;
  return {
    pauses,
    async look(): Promise<void> {
      if (requests.length === requestsBefore) return;
      requestsBefore = requests.length;
      const paused = await listSelfPausedRuns(database);
      const added = paused.filter((runId) => !known.has(runId));
      pauses.push(...added.map((runId) => ({ runId, realAt: clock.realNow().getTime(), requestsBefore })));
      known = new Set(paused);
    },
  };
}

const watched = new Map(
  stateMachines
    .filter(({ table }) => ['campaigns', 'runs', 'chunks', 'deliveries'].includes(table))
    .map(({ table, column }) => [table, column]),
);

/** From now on the database notes every change of a state, once. Not on a cluster, which takes no triggers. */
export async function watchStates(database: Database): Promise<void> {
  await database`create unlogged table seen_changes (was text, became text, of_table text, primary key (of_table, was, became))`;
  await database.unsafe(`
    create function note_change() returns trigger language plpgsql as $$ begin
      insert into seen_changes values (to_jsonb(old) ->> tg_argv[0], to_jsonb(new) ->> tg_argv[0], tg_table_name)
      on conflict do nothing;
      return null;
    end $$`);
  for (const [table, column] of watched)
    await database.unsafe(`
      create trigger seen after update on ${table} for each row
      when (old.${column} is distinct from new.${column}) execute function note_change('${column}')`);
}

/** What was seen that docs/states.md does not have, and how much it has that was seen. */
export async function compareStates(database: Database): Promise<{ unknown: string[]; seen: number }> {
  const rows = await database<{ table: string; was: string; became: string }[]>`
    select distinct regexp_replace(of_table, '^deliveries_.*', 'deliveries') as "table", was, became from seen_changes`;
  const known = new Set(
    stateMachines.flatMap(({ table, changes }) => changes.map(({ from, to }) => `${table}: ${from} → ${to}`)),
  );
  const words = Object.fromEntries(Object.entries(outcomeLetters).map(([word, letter]) => [letter, word]));
  const seen = rows.map(({ table, was, became }) => `${table}: ${words[was] ?? was} → ${words[became] ?? became}`);
  return { unknown: seen.filter((change) => !known.has(change)), seen: seen.filter((one) => known.has(one)).length };
}
