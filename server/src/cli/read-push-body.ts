import { readFile, stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Platform } from '../domain/campaigns/content.ts';
import { ServiceError } from '../domain/errors.ts';
import { maxPushBodyBytes } from '../domain/push/limits.ts';
import { parseJson } from '../http/json-body.ts';
import { StartError } from '../start/start-errors.ts';

export type PushOptions = {
  name?: string;
  file?: string;
  all?: true;
  segment?: string;
  users?: string[];
  platform: Platform[];
  title?: string;
  message?: string;
  image?: string;
  deepLink?: string;
  icon?: string;
  tag?: string[];
};

/** The body that the push API would get: of a file, or made of the options. @throws StartError SETTING_INVALID */
export async function readPushBody(options: PushOptions): Promise<Record<string, unknown>> {
  if (options.file === undefined) return makeBody(options);
  const body = await readBodyFile(options.file);
  return options.name === undefined ? body : { ...body, campaignName: options.name };
}

async function readBodyFile(path: string): Promise<Record<string, unknown>> {
  const refuse = (why: string, cause?: unknown) => new StartError('SETTING_INVALID', `The file ${path} ${why}.`, cause);
  let body: unknown;
  try {
    if (path !== '-' && (await stat(path)).size > maxPushBodyBytes)
      throw refuse(`is larger than the ${maxPushBodyBytes} bytes of a request`);
    body = parseJson(path === '-' ? await text(process.stdin) : await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof StartError) throw error;
    const why = (error instanceof ServiceError && error.context.detail) || (error as Error).message;
    throw refuse(`cannot be read: ${why}`, error);
  }
  if (body === null || typeof body !== 'object' || Array.isArray(body)) throw refuse('holds no JSON object');
  return body as Record<string, unknown>;
}

function makeBody(options: PushOptions): Record<string, unknown> {
  const { name, platform: targetPlatform, tag } = options;
  if (name === undefined) throw new StartError('SETTING_INVALID', 'Name the campaign with --name, or give --file.');
  const payload = targetPlatform.map((platform) => [platform, makePayload(platform, options)]);
  return {
    campaignName: name,
    ...makeAudience(options),
    targetPlatform,
    payload: Object.fromEntries(payload),
    campaignDelivery: { type: 'soon' },
    ...(tag && { campaignTags: tag }),
  };
}

function makeAudience({ all, segment, users }: PushOptions): Record<string, unknown> {
  if ([all, segment, users].filter((one) => one !== undefined).length !== 1)
    throw new StartError('SETTING_INVALID', 'Say to whom: --all, --segment <name> or --users <customer id...>.');
  if (all) return { targetAudience: 'All Users' };
  if (segment !== undefined) return { targetAudience: 'Custom Segment', customSegmentName: segment };
  return {
    targetAudience: 'User',
    targetUserAttributes: {
      attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
      comparisonParameter: 'in',
      attributeValue: users,
    },
  };
}

/** One text on every platform; what a platform requires and nobody gave is refused as the API does. */
function makePayload(platform: Platform, options: PushOptions): Record<string, unknown> {
  const { title, message, image, deepLink, icon } = options;
  const shown = { title, message };
  if (platform === 'WEB') return { ...shown, redirectURL: deepLink, iconURL: icon, imageURL: image };
  return {
    ...shown,
    ...(image !== undefined && { richContent: [{ type: 'image', value: image }] }),
    ...(deepLink !== undefined && { defaultAction: { type: 'deeplinking', value: deepLink } }),
  };
}
