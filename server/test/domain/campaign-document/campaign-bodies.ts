import { readCampaign } from '../../../src/domain/campaign-document/campaign.ts';
import type { ReadCampaign } from '../../../src/domain/campaign-document/campaign.ts';

export type Json = Record<string, unknown>;

export const web = {
  basic_details: { title: 'T', message: 'M', redirect_url: 'https://a.example/' },
  advanced: { icon_url: 'https://a.example/i.png' },
};
export const android = { basic_details: { title: 'T', message: 'M' } };

/** The least that a campaign must say. */
export const campaign: Json = {
  channel: 'PUSH',
  campaign_delivery_type: 'ONE_TIME',
  basic_details: { name: 'Spring', platforms: ['WEB'] },
  campaign_content: { content: { push: { web } } },
  segmentation_details: { is_all_user_campaign: true },
  scheduling_details: { delivery_type: 'ASAP' },
};

/** The body with other values at the paths; undefined: without it. */
export function bodyWith(changes: Json): Json {
  return Object.entries(changes).reduce((body, [path, value]) => put(body, path.split('.'), value), campaign);
}

function put(of: Json, [name = '', ...rest]: string[], value: unknown): Json {
  if (rest.length === 0) return { ...of, [name]: value };
  const before = of[name];
  return { ...of, [name]: put((before ?? {}) as Json, rest, value) };
}

export function read(changes: Json): ReadCampaign & { told: string[] } {
  const result = readCampaign(bodyWith(changes));
  return { ...result, told: result.faults.map(({ field, reason }) => `${field}: ${reason}`) };
}
