import type { AssignedRole, WorkspaceRole } from '../../domain/access/accounts.ts';
import type { Queryable } from '../database.ts';
import { workspaceRolesOf } from './accounts.ts';

export type NewAgentToken = {
  id: string;
  tokenHash: Buffer;
  /** Null: the owner of a sandbox, who has no account. */
  accountId: string | null;
  name: string;
  /** True: may change drafts and propose; false: only reads. */
  mayPropose: boolean;
  at: Date;
  expiresAt: Date;
};

export async function insertAgentToken(tx: Queryable, token: NewAgentToken): Promise<void> {
  await tx`
    insert into agent_tokens (id, token_hash, account_id, name, may_propose, created_at, expires_at)
    values (
      ${token.id}, ${token.tokenHash}, ${token.accountId}, ${token.name}, ${token.mayPropose}, ${token.at},
      ${token.expiresAt}
    )`;
}

export type AgentTokenOwner = {
  id: string;
  name: string;
  mayPropose: boolean;
  createdAt: Date;
  usedAt: Date | null;
  account: ({ id: string; email: string; name: string; workspaceRoles: WorkspaceRole[] } & AssignedRole) | null;
};

/**
 * Returns the owner of a token that has not expired. The account's roles are read each time, so that a change applies from
 * the next call on; a disabled account has no valid token. Index: unique token_hash.
 */
export async function findAgentTokenOwner(
  tx: Queryable,
  { tokenHash, at }: { tokenHash: Buffer; at: Date },
): Promise<AgentTokenOwner | undefined> {
  const [row] = await tx<AgentTokenOwner[]>`
    select agent_tokens.id, agent_tokens.name, agent_tokens.may_propose as "mayPropose",
      agent_tokens.created_at as "createdAt", agent_tokens.used_at as "usedAt",
      case when accounts.id is not null then jsonb_build_object(
        'id', accounts.id, 'email', accounts.email, 'name', accounts.name, 'role', accounts.role,
        'groupRole', accounts.group_role, 'workspaceRoles', ${workspaceRolesOf(tx)}
      ) end as account
    from agent_tokens
    left join accounts on accounts.id = agent_tokens.account_id
    where agent_tokens.token_hash = ${tokenHash} and agent_tokens.expires_at > ${at}
      and accounts.disabled_at is null`;
  return row;
}

/** Updates the time a token was last used. Call it at most once a minute. Index: primary key. */
export async function touchAgentToken(tx: Queryable, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx`update agent_tokens set used_at = ${at} where id = ${id}`;
}

export type AgentToken = {
  id: string;
  name: string;
  /** Null: the owner of a sandbox. */
  email: string | null;
  mayPropose: boolean;
  createdAt: Date;
  expiresAt: Date;
  usedAt: Date | null;
};

/** The tokens of an account, of the owner of a sandbox (null), or all of them (undefined). */
type Owned = { accountId?: string | null | undefined };

const ownedBy = (tx: Queryable, accountId: string | null | undefined) =>
  accountId === undefined ? tx`true` : tx`agent_tokens.account_id is not distinct from ${accountId}`;

/** Newest first, at most 200. */
export async function listAgentTokens(tx: Queryable, { at, accountId }: Owned & { at: Date }): Promise<AgentToken[]> {
  return tx<AgentToken[]>`
    select agent_tokens.id, agent_tokens.name, accounts.email, agent_tokens.may_propose as "mayPropose",
      agent_tokens.created_at as "createdAt", agent_tokens.expires_at as "expiresAt", agent_tokens.used_at as "usedAt"
    from agent_tokens
    left join accounts on accounts.id = agent_tokens.account_id
    where agent_tokens.expires_at > ${at} and ${ownedBy(tx, accountId)}
    order by agent_tokens.id desc limit 200`;
}

/** @returns the token's name; undefined if there was none */
export async function deleteAgentToken(
  tx: Queryable,
  { id, accountId }: Owned & { id: string },
): Promise<string | undefined> {
  const [row] = await tx<{ name: string }[]>`
    delete from agent_tokens where id = ${id} and ${ownedBy(tx, accountId)} returning name`;
  return row?.name;
}

/** The tokens of one account that have not expired; the table is small, so there is no index. */
export async function countAgentTokens(
  tx: Queryable,
  { at, accountId }: { at: Date; accountId: string | null },
): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count from agent_tokens
    where expires_at > ${at} and account_id is not distinct from ${accountId}`;
  return row!.count;
}

/**
 * Deletes the tokens of an account. The table is small, so there is no index.
 *
 * @returns the ids of the deleted tokens
 */
export async function deleteAgentTokensOf(tx: Queryable, accountId: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`delete from agent_tokens where account_id = ${accountId} returning id`;
  return rows.map(({ id }) => id);
}

/** Index: agent_tokens_expiry. */
export async function deleteExpiredAgentTokens(tx: Queryable, at: Date): Promise<void> {
  await tx`delete from agent_tokens where expires_at <= ${at}`;
}
