import { platforms } from '../campaigns/content.ts';
import type { CampaignContent, Platform } from '../campaigns/content.ts';
import { readAndroidContent, readIosContent, readWebContent } from './read-platform-content.ts';
import { readLocales } from '../locales/read-locales.ts';
import { readProviderOverrides } from '../provider-overrides/read-provider-overrides.ts';
import { spreadOverrides } from '../provider-overrides/spread-overrides.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';
import { readVariants } from './read-variants.ts';
import type { ReadVariants } from './read-variants.ts';

const documentNames = new Map(platforms.map((platform) => [platform.toLowerCase(), platform]));

/** `campaign_content` of a push (fact 6.2): what is shown to whom. */
export function readPushContent(part: RequestReader, targets: readonly Platform[]): ReadVariants {
  part.requires('content');
  return readVariants(part, (push, { isLocalized }) => readPush(push, { targets, isLocalized }));
}

type Reading = { targets: readonly Platform[]; isLocalized: boolean };

function readPush(push: RequestReader, { targets, isLocalized }: Reading): CampaignContent {
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
  if (isLocalized && !push.isAbsent('locales')) push.invalid('locales', 'cannot stand beside campaign_content.locales');
  else readLocales(content, { payload: push, names: documentNames });
  spreadOverrides(content, readProviderOverrides(push, []));
  return content;
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
