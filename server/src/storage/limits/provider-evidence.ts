import type { Hold, Seen } from '../../domain/delivery/evidence.ts';
import type { ProviderName } from '../../domain/delivery/provider-name.ts';
import type { Fragment, Queryable } from '../database.ts';

/** A key with the credential that it belongs to. */
export type EvidenceOwner = { key: string; workspaceId: string; provider: ProviderName; appId: string };

/**
 * The remembered answers of a key, locked until the transaction ends; makes the row when there is none. The commit does not
 * wait for the disk: a database that crashes may forget the last answers, which come again. Index: primary key.
 */
export async function lockEvidence(tx: Queryable, { at, ...of }: EvidenceOwner & { at: Date }): Promise<Seen[]> {
  await tx`set local synchronous_commit to off`;
  await tx`
    insert into provider_evidence (key, workspace_id, provider, app_id, updated_at)
    values (${of.key}, ${of.workspaceId}, ${of.provider}, ${of.appId}, ${at})
    on conflict (key) do nothing`;
  const [row] = await tx<{ remembered: Seen[] }[]>`
    select remembered from provider_evidence where key = ${of.key} for update`;
  return row!.remembered;
}

/** The caller holds the row's lock. Index: primary key. */
export async function storeEvidence(
  tx: Queryable,
  { key, remembered, at }: { key: string; remembered: readonly Seen[]; at: Date },
): Promise<void> {
  await tx`
    update provider_evidence set remembered = ${JSON.stringify(remembered)}::text::jsonb, updated_at = ${at}
    where key = ${key}`;
}

export type HoldToStore = Omit<Hold, 'remembered'> & {
  at: Date;
  /** False: the answers of many devices decided. */
  isSure: boolean;
};

/** Holds a key. A hold without an end is never made shorter by a pause. The caller holds the row's lock. Index: primary key. */
export async function holdKey(tx: Queryable, hold: HoldToStore): Promise<void> {
  await tx`
    update provider_evidence
    set held_at = ${hold.at}, held_code = ${hold.code}, held_detail = ${hold.detail}, held_until = ${hold.until},
      held_for_sure = ${hold.isSure}, probed_at = ${hold.at}, updated_at = ${hold.at}
    where key = ${hold.key}
      and (held_at is null or held_until is not null and (${hold.until}::timestamptz is null or held_until < ${hold.until}))`;
}

/** The keys that are held at an instant: few rows, read by every node each second. Index: provider_evidence_held. */
export async function listHolds(tx: Queryable, at: Date): Promise<Hold[]> {
  return tx<Hold[]>`
    select key, held_code as code, held_detail as detail, held_until as until, remembered
    from provider_evidence
    where held_at is not null and (held_until is null or held_until > ${at})
    order by key limit 10000`;
}

/**
 * Lets one message of a held key through, if none was since `before`; of several nodes that ask at once one may. Index:
 * primary key.
 */
export async function claimProbe(
  tx: Queryable,
  { key, at, before }: { key: string; at: Date; before: Date },
): Promise<boolean> {
  const rows = await tx`
    update provider_evidence set probed_at = ${at}, updated_at = ${at}
    where key = ${key} and held_at is not null and (probed_at is null or probed_at <= ${before} or probed_at > ${at})
    returning 1`;
  return rows.length === 1;
}

/** What a release sets: the key is not held, and the answers before it say nothing any more. */
const released = (tx: Queryable, at: Date): Fragment => tx`
  held_at = null, held_code = null, held_detail = null, held_until = null, held_for_sure = null, probed_at = null,
  remembered = '[]', updated_at = ${at}`;

/** A device of the key was accepted: nothing is held, and what failed before is forgotten. Index: primary key. */
export async function releaseKey(tx: Queryable, { key, at }: { key: string; at: Date }): Promise<void> {
  await tx`
    update provider_evidence
    set ${released(tx, at)}
    where key = ${key} and held_at is not null`;
}

/** Releases the keys of a workspace, so that its providers are asked again. Index: provider_evidence_workspace. */
export async function releaseWorkspaceKeys(
  tx: Queryable,
  { workspaceId, at }: { workspaceId: string; at: Date },
): Promise<void> {
  await tx`
    update provider_evidence
    set ${released(tx, at)}
    where workspace_id = ${workspaceId} and held_at is not null`;
}

/**
 * Releases keys whose credential was checked and accepted after the provider had refused it for sure. A check sends to a
 * made-up device, so it says nothing about a hold that the answers of real devices decided. Index: provider_evidence_held.
 */
export async function releaseCheckedKeys(tx: Queryable, at: Date): Promise<number> {
  const rows = await tx`
    update provider_evidence as evidence
    set ${released(tx, at)}
    from provider_credentials as checked
    where evidence.held_for_sure and checked.workspace_id = evidence.workspace_id
      and checked.provider = evidence.provider and checked.app_id = evidence.app_id
      and checked.check_verdict = 'ACCEPTED' and checked.checked_at > evidence.held_at`;
  return rows.count;
}

/** Drops keys without an answer for a day, but for those that runs wait for. Indexes: provider_evidence_updated, run_refusals_evidence. */
export async function dropOldEvidence(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`
    delete from provider_evidence
    where updated_at < ${before}
      and not exists (select 1 from run_refusals where run_refusals.evidence_key = provider_evidence.key)`;
  return rows.count;
}

export type HeldKey = { key: string; provider: ProviderName; code: string; remembered: Seen[] };

/** Held keys whose next message may go, for runs that wait for them. Index: provider_evidence_held, run_refusals_evidence. */
export async function listKeysToProbe(
  tx: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<HeldKey[]> {
  return tx<HeldKey[]>`
    select key, provider, held_code as code, remembered from provider_evidence
    where held_at is not null and held_until is null and (probed_at is null or probed_at <= ${before})
      and exists (select 1 from run_refusals where run_refusals.evidence_key = provider_evidence.key)
    order by probed_at nulls first, key limit ${limit}`;
}
