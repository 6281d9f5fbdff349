import type { CampaignBody } from '@carillon/client';
import type { ComposerResources } from '../api/generated/composer.ts';
import { pushPath } from './content/variants.ts';
import type { ShownContent } from './content/variants.ts';

/** Splits `a.b[0].c` into its steps. Names of members contain neither dots nor brackets. */
function stepsOf(path: string): (string | number)[] {
  return path.split('.').flatMap((name) => {
    const [member, ...indexes] = name.split('[');
    return [member!, ...indexes.map((index) => Number(index.replace(']', '')))];
  });
}

/** Returns the member of a campaign at a path of the server; undefined if it is missing. */
export function readAt(body: CampaignBody, path: string): unknown {
  return stepsOf(path).reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined,
    body,
  );
}

export function textAt(body: CampaignBody, path: string): string {
  const value = readAt(body, path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

export function listAt<Item>(body: CampaignBody, path: string): Item[] {
  const value = readAt(body, path);
  return Array.isArray(value) ? (value as Item[]) : [];
}

/** Returns the campaign with that member changed. Undefined removes it. */
export function writeAt(body: CampaignBody, path: string, value: unknown): CampaignBody {
  return write(body, { steps: stepsOf(path), value }) as CampaignBody;
}

function write(target: unknown, { steps, value }: { steps: (string | number)[]; value: unknown }): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const items = Array.isArray(target) ? [...(target as unknown[])] : [];
    items[step] = write(items[step], { steps: rest, value });
    return items.filter((item) => item !== undefined);
  }
  const members = { ...(target as Record<string, unknown> | undefined) };
  const written = write(members[step], { steps: rest, value });
  if (written === undefined) delete members[step];
  else members[step] = written;
  return members;
}

/** Returns the body that is sent. Members that the server treats as absent are removed. */
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

/** Returns the merge patch (RFC 7396) from one campaign to another; undefined if they are equal. */
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

export type Platform = 'ANDROID' | 'IOS' | 'WEB';

export const platforms: readonly Platform[] = ['ANDROID', 'IOS', 'WEB'];

/** The initial body of a new campaign: all users, the phone platforms with a connection, sent at once. */
export function newCampaign({ credentials }: ComposerResources): CampaignBody {
  const phones = (['ANDROID', 'IOS'] as const).filter((platform) => credentials[platform] !== undefined);
  const chosen: Platform[] = phones.length > 0 ? phones : ['ANDROID'];
  return {
    channel: 'PUSH',
    campaign_delivery_type: 'ONE_TIME',
    basic_details: { name: '', platforms: chosen },
    campaign_content: {
      content: { push: Object.fromEntries(chosen.map((platform) => [platform.toLowerCase(), newContent(platform)])) },
    },
    segmentation_details: { is_all_user_campaign: true },
    scheduling_details: { delivery_type: 'ASAP' },
  };
}

/** Contains the layout from the start, so that the server reports a platform without texts field by field. */
export function newContent(platform: Platform): Record<string, unknown> {
  return {
    template_type: 'BASIC',
    ...(platform === 'WEB' ? { advanced: { icon_image_type: 'ICON_URL' } } : {}),
  };
}

/** The content that a form shows. */
type Shown = { body: CampaignBody; shown?: ShownContent };

/** The path to a platform's content, of the shown variation and language. */
export function platformPath({ body, shown }: Shown, platform: Platform): string {
  return `${pushPath(body, shown)}.${platform.toLowerCase()}`;
}

export function platformsOf(body: CampaignBody): Platform[] {
  const sent = body.basic_details?.platforms;
  const chosen = Array.isArray(sent) ? sent.map((word) => String(word).toUpperCase()) : [];
  return platforms.filter((platform) => chosen.includes(platform));
}
