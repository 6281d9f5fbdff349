import { platforms } from '../campaigns/content.ts';
import type { CampaignContent, Platform } from '../campaigns/content.ts';
import { readAndroidContent, readIosContent, readWebContent } from './read-platform-content.ts';
import { readLocales } from '../locales/read-locales.ts';
import { readProviderOverrides } from '../provider-overrides/read-provider-overrides.ts';
import { spreadOverrides } from '../provider-overrides/spread-overrides.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';

const documentNames = new Map(platforms.map((platform) => [platform.toLowerCase(), platform]));

/**
 * `campaign_content` of a push (fact 6.2): `{"push": …}` or the same below the locale `default` and its one variation.
 * Only one locale and one variation are supported; more are refused by name.
 */
export function readPushContent(part: RequestReader, targets: readonly Platform[]): CampaignContent {
  const locales = part.texts('locales', { maxItems: 100, maxCharacters: 100 }) ?? [];
  if (locales.some((locale) => locale.toLowerCase() !== 'default'))
    part.invalid('locales', 'must hold only default: other locales are not available in this version');
  readVariations(part.part('variation_details'));
  part.requires('content');
  const push = findPush(part.part('content'));
  const content: CampaignContent = {};
  for (const platform of platforms) {
    const name = platform.toLowerCase();
    // A draft may have content before it has platforms.
    if (targets.length === 0 && push.get(name) === undefined) continue;
    if (targets.length > 0 && !targets.includes(platform)) {
      if (push.get(name) !== undefined) push.invalid(name, 'is not among basic_details.platforms');
      continue;
    }
    if (!push.requires(name)) continue;
    if (platform === 'ANDROID') content.ANDROID = withBackup(readAndroidContent, push.part(name));
    else if (platform === 'IOS') content.IOS = withBackup(readIosContent, push.part(name));
    else content.WEB = withBackup(readWebContent, push.part(name));
  }
  readLocales(content, { payload: push, names: documentNames });
  spreadOverrides(content, readProviderOverrides(push, []));
  return content;
}

function readVariations(details: RequestReader): void {
  details.integer('no_of_variations', { minimum: 1, maximum: 1 });
  details.choice('distribution_type', ['MANUAL']);
  for (const name of details.names()) if (name.startsWith('sherpa_')) details.refuse(name);
  const share = details.part('manual_distribution_percentage');
  for (const name of share.names())
    if (name !== 'variation_1' || share.get(name) !== 100) share.invalid(name, 'must be 100 for variation_1 alone');
}

function findPush(content: RequestReader): RequestReader {
  if (content.get('push') !== undefined || content.names().length === 0) return content.part('push');
  const locale = content.part('default');
  for (const name of content.names())
    if (name !== 'default') content.invalid(name, 'must be push, or the locale default with its variation_1');
  for (const name of locale.names())
    if (name !== 'variation_1') locale.invalid(name, 'must be variation_1: further variations are not available');
  const variation = locale.part('variation_1');
  variation.requires('push');
  return variation.part('push');
}

/** What is shown when the personalisation of the content fails for a user. */
function withBackup<Content extends object>(
  read: (part: RequestReader) => Content,
  part: RequestReader,
): Content & { fallback?: Content } {
  const content = read(part);
  if (part.get('template_backup') === undefined) return content;
  const backup = part.part('template_backup');
  backup.refuse('template_backup');
  return { ...content, fallback: read(backup) };
}
