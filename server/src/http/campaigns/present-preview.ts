import type { Preview } from '../../app/campaigns/preview-campaign.ts';
import { presentPushContent } from './present-push-content.ts';

/** What each platform would show, in the words of campaign records, or why it would show nothing or the fallback. */
export function presentPreview({ customerId, platforms }: Pick<Preview, 'customerId' | 'platforms'>) {
  return {
    customer_id: customerId,
    platforms: Object.fromEntries(platforms.map((shown) => [shown.platform.toLowerCase(), presentOne(shown)])),
  };
}

type One = Preview['platforms'][number];

function presentOne({ platform, personal, language }: One) {
  if ('fault' in personal) return { outcome: 'FAILED', failure: personal.fault };
  const { push } = presentPushContent({ [platform]: { ...personal.content, fallback: undefined } });
  const content = Object.values(push)[0];
  return personal.instead
    ? { outcome: 'FALLBACK', content, failure: personal.instead }
    : { outcome: 'RENDERED', ...(language === undefined ? {} : { language }), content };
}
