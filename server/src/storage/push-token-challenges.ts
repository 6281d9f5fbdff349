import type { Registration } from '../domain/users/registrations.ts';
import type { Lease, Queryable } from './database.ts';

/** How a challenged push token is reached. */
export type ChallengedAddress = Pick<Registration, 'platform' | 'provider' | 'pushIdType' | 'appId'> & {
  pushId: string;
};

type Challenged = { workspaceId: string; addressHash: Buffer };

/**
 * Counts the challenges to a token since `since`, and those of one installation that can still be answered. The caller has locked
 * the address. Index: push_token_challenges_address.
 */
export async function countChallenges(
  tx: Queryable,
  {
    workspaceId,
    addressHash,
    installationId,
    since,
    at,
  }: Challenged & { installationId: string; since: Date; at: Date },
): Promise<{ recent: number; own: number }> {
  const [row] = await tx<{ recent: number; own: number }[]>`
    select count(*) as recent,
      count(*) filter (where installation_id = ${installationId} and send_until > ${at}) as own
    from push_token_challenges
    where workspace_id = ${workspaceId} and address_hash = ${addressHash} and created_at > ${since}`;
  return row!;
}

type NewChallenge = Challenged & {
  id: string;
  installationId: string;
  address: ChallengedAddress;
  sendUntil: Date;
  at: Date;
};

/** Adds a challenge, which is due now. Index: primary key. */
export async function insertChallenge(tx: Queryable, added: NewChallenge): Promise<void> {
  await tx`
    insert into push_token_challenges (id, workspace_id, installation_id, address_hash, address, next_at, send_until, created_at)
    values (${added.id}, ${added.workspaceId}, ${added.installationId}, ${added.addressHash},
      ${JSON.stringify(added.address)}::text::jsonb, ${added.at}, ${added.sendUntil}, ${added.at})`;
}

/**
 * Uses up the challenge that a code answers, so that it works once. The caller has locked the address.
 * Index: push_token_challenges_address.
 *
 * @returns false for a wrong code, another installation's code, or one that is too old
 */
export async function takeChallenge(
  tx: Queryable,
  {
    workspaceId,
    addressHash,
    installationId,
    codeHash,
    at,
  }: Challenged & { installationId: string; codeHash: Buffer; at: Date },
): Promise<boolean> {
  const rows = await tx`
    delete from push_token_challenges
    where workspace_id = ${workspaceId} and address_hash = ${addressHash} and installation_id = ${installationId}
      and code_hash = ${codeHash} and send_until > ${at}
    returning 1`;
  return rows.length > 0;
}

export type DueChallenge = {
  id: string;
  workspaceId: string;
  installationId: string;
  address: ChallengedAddress;
  /** Including this one. */
  attempts: number;
  sendUntil: Date;
  /** Distinguishes this worker's lease from one that ended. */
  leaseUntil: Date;
};

/**
 * Claims challenges that are due, oldest first, and counts the attempt before anything is sent. Skips rows that others have
 * locked. Index: push_token_challenges_due.
 */
export async function claimDueChallenges(
  tx: Queryable,
  claim: { at: Date; limit: number } & Lease,
): Promise<DueChallenge[]> {
  return tx<DueChallenge[]>`
    with due as (
      select id as due_id from push_token_challenges
      where state = 'WAITING' and next_at <= ${claim.at} and (lease_until is null or lease_until <= ${claim.leasedAt})
      order by next_at
      limit ${claim.limit}
      for update skip locked
    )
    update push_token_challenges
    set lease_until = ${claim.leaseUntil}, attempts = attempts + 1
    from due
    where id = due_id
    returning id, workspace_id as "workspaceId", installation_id as "installationId", address, attempts,
      send_until as "sendUntil", lease_until as "leaseUntil"`;
}

type Held = Pick<DueChallenge, 'id' | 'leaseUntil'>;

/**
 * Stores the code of an attempt before it is sent; the code of an earlier attempt no longer works. Index: primary key.
 *
 * @returns false if another worker has the challenge now
 */
export async function storeChallengeCode(tx: Queryable, { id, leaseUntil, codeHash }: Held & { codeHash: Buffer }) {
  const rows = await tx`
    update push_token_challenges set code_hash = ${codeHash}
    where id = ${id} and state = 'WAITING' and lease_until = ${leaseUntil}
    returning 1`;
  return rows.length === 1;
}

export type SettledChallenge = { code: string | null } & (
  | { state: 'ACCEPTED' | 'GONE' | 'REJECTED' | 'FAILED' | 'EXPIRED' }
  | { state: 'WAITING'; nextAt: Date; attempts: number }
);

/** Stores the outcome of an attempt. A worker whose lease ran out changes nothing. Index: primary key. */
export async function settleChallenge(
  tx: Queryable,
  { id, leaseUntil, attempts, settled }: Held & { attempts: number; settled: SettledChallenge },
): Promise<void> {
  const isWaiting = settled.state === 'WAITING';
  await tx`
    update push_token_challenges
    set state = ${settled.state}, code = ${settled.code}, next_at = ${isWaiting ? settled.nextAt : null}, lease_until = null,
      attempts = ${isWaiting ? settled.attempts : attempts}
    where id = ${id} and state = 'WAITING' and lease_until = ${leaseUntil}`;
}

/** Deletes challenges that were made before `before`, oldest first. Index: push_token_challenges_age. */
export async function deleteOldChallenges(
  tx: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const rows = await tx`
    delete from push_token_challenges where id in (
      select id from push_token_challenges where created_at < ${before} order by created_at limit ${limit}
    )`;
  return rows.count;
}
