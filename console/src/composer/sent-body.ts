import type { CampaignBody } from '@carillon/client';

/** What is sent of a campaign that is being written: without what the server takes for not sent anyway. */
export function sentBody(body: CampaignBody): CampaignBody {
  return (withoutEmpty(body) ?? {}) as CampaignBody;
}

function withoutEmpty(value: unknown): unknown {
  if (value === undefined || value === null || value === '') return undefined;
  if (Array.isArray(value)) {
    const items = value.map(withoutEmpty).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (typeof value !== 'object') return value;
  const members = Object.entries(value)
    .map(([name, member]) => [name, withoutEmpty(member)] as const)
    .filter(([, member]) => member !== undefined);
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** What makes of one campaign another when it is merged into it (RFC 7396); undefined when they are the same. */
export function mergePatchOf(before: CampaignBody, after: CampaignBody): CampaignBody | undefined {
  const patch = patchOf(before, after);
  return patch as CampaignBody | undefined;
}

function patchOf(before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) return areSame(before, after) ? undefined : after;
  const changes: Record<string, unknown> = {};
  for (const name of Object.keys(before)) if (after[name] === undefined) changes[name] = null;
  for (const [name, value] of Object.entries(after)) {
    const change = patchOf(before[name], value);
    if (change !== undefined) changes[name] = change;
  }
  return Object.keys(changes).length === 0 ? undefined : changes;
}

function areSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
