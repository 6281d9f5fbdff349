import { createHash } from 'node:crypto';
import type { Queryable } from '../database.ts';
import type { User } from './erased-traces.ts';

/** Replaces the name of an erased user. No customer id, address or number can be equal to it. */
const erasedName = '[erased]';

/** Identifiers that name one person. Other attributes, such as a city, are shared by many. */
const namingAttributes = ['u_em', 'u_mb', 'device:push_id', 'device:gaid', 'device:idfv'];

/**
 * Returns the texts by which a sender may have named the user: customer ids, also merged ones, e-mail addresses, numbers and
 * tokens. Call it before they are erased. Indexes: primary keys of users, identifiers_user, merged_users_retained.
 */
export async function listNamesOf(tx: Queryable, { workspaceId, users }: User): Promise<string[]> {
  const names = new Set<string>();
  for (const { bucket, userId } of users) {
    const of = tx`workspace_id = ${workspaceId} and bucket = ${bucket}`;
    const rows = await tx<{ name: string }[]>`
      select customer_id as name from users where ${of} and id = ${userId}
      union all
      select value from identifiers
      where ${of} and user_id = ${userId} and (attribute = any(${namingAttributes}) or value like '%_@_%._%')`;
    const merged = await tx<{ name: string }[]>`
      select customer_id as name from merged_users
      where workspace_id = ${workspaceId} and retained_bucket = ${bucket} and retained_user_id = ${userId}`;
    for (const { name } of [...rows, ...merged]) names.add(name);
  }
  return [...names];
}

export type NamedUser = { workspaceId: string; names: readonly string[] };

/**
 * Removes the user's names from the targets of campaigns and of requests that wait for a campaign: a target without values
 * reaches no user. Indexes: campaigns_newest, runs_selectors.
 *
 * @returns how many rows were changed
 */
export async function eraseSelectors(tx: Queryable, { workspaceId, names }: NamedUser): Promise<number> {
  const named = tx`workspace_id = ${workspaceId} and target_selector -> 'values' ?| ${[...names]}::text[]`;
  const others = tx`jsonb_set(target_selector, '{values}', (target_selector -> 'values') - ${[...names]}::text[])`;
  const campaigns = await tx`update campaigns set target_selector = ${others} where ${named}`;
  const runs = await tx`update runs set target_selector = ${others} where ${named}`;
  return campaigns.count + runs.count;
}

type Filtered = { id: string; included: unknown; excluded: unknown; description: string | null };

/**
 * Replaces the user's names in the filters of segments and in authored campaigns by a word that no user has, so that the
 * other conditions stay as they are. Indexes: segments_name, campaigns_newest; a workspace has at most thousands of both.
 *
 * @returns how many rows were changed
 */
export async function eraseFilters(tx: Queryable, { workspaceId, names }: NamedUser): Promise<number> {
  const isNaming = (column: string) =>
    tx`exists (select from unnest(${names.map((name) => JSON.stringify(name))}::text[]) as name
      where position(name in ${tx(column)}::text) > 0)`;
  const segments = await tx<Filtered[]>`
    select id, included_filters as included, excluded_filters as excluded, description from segments
    where workspace_id = ${workspaceId} and (${isNaming('included_filters')} or ${isNaming('excluded_filters')})
    order by id for update`;
  for (const segment of segments) {
    const [included, excluded] = [withoutNames(segment.included, names), withoutNames(segment.excluded, names)];
    // A digest of the names would still prove who was named.
    const digest = createHash('sha256').update(JSON.stringify({ included, excluded })).digest();
    const description = names.reduce((text, name) => text.replaceAll(name, erasedName), segment.description ?? '');
    await tx`
      update segments
      set included_filters = ${tx.json(included as object)},
        excluded_filters = ${excluded === null ? null : tx.json(excluded as object)},
        description = ${segment.description && description}, filters_digest = ${digest}
      where id = ${segment.id}`;
  }
  const campaigns = await tx<{ id: string; parts: unknown }[]>`
    select id, parts from campaigns
    where workspace_id = ${workspaceId} and parts is not null and ${isNaming('parts')}
    order by id for update`;
  for (const { id, parts } of campaigns)
    await tx`update campaigns set parts = ${tx.json(withoutNames(parts, names) as object)} where id = ${id}`;
  return segments.length + campaigns.length;
}

/** Replaces texts that are a name as a whole; a name within a longer text is what a sender wrote. Pure. */
function withoutNames(value: unknown, names: readonly string[]): unknown {
  if (typeof value === 'string') return names.includes(value) ? erasedName : value;
  if (Array.isArray(value)) return value.map((item) => withoutNames(item, names));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutNames(inner, names)]));
}
