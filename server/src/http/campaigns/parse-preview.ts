import type { PreviewRequest } from '../../app/campaigns/preview-campaign.ts';
import { platforms } from '../../domain/campaigns/content.ts';
import { makeCampaignReader } from './campaign-reader.ts';
import type { Body } from './campaign-reader.ts';
import { isAbsent } from './parse-authoring.ts';
import { inlineParts } from './parse-test.ts';

/**
 * Reads what is to be rendered, content or a draft, and for whom; where `anybody` may be meant, a body that names nobody
 * means somebody of whom nothing is known.
 *
 * @throws ServiceError CAMPAIGN_REQUEST_INVALID
 */
export function parsePreview(body: Body, meant: 'named' | 'anybody' = 'named'): Omit<PreviewRequest, 'workspaceId'> {
  const reader = makeCampaignReader();
  const isNobody = meant === 'anybody' && isAbsent(body.identifier) && isAbsent(body.identifier_value);
  const draftId = isAbsent(body.draft_id) ? undefined : reader.text(body.draft_id, 'draft_id');
  const required = [
    ...(isNobody ? [] : ['identifier', 'identifier_value']),
    ...(draftId === undefined ? ['channel', 'campaign_content'] : []),
  ];
  for (const field of required) if (isAbsent(body[field])) reader.missing(field);
  if (draftId !== undefined && !isAbsent(body.campaign_content))
    reader.invalid('draft_id', 'cannot stand beside campaign_content');
  const text = (field: string): string => (isAbsent(body[field]) ? '' : (reader.text(body[field], field) ?? ''));
  const asked = {
    named: isNobody ? undefined : { identifier: text('identifier'), value: text('identifier_value') },
    platform: isAbsent(body.platform) ? undefined : reader.choices([body.platform], 'platform', platforms)?.[0],
    event: isAbsent(body.event_attributes) ? {} : (reader.record(body.event_attributes, 'event_attributes') ?? {}),
  };
  reader.throwFaults();
  return { ...asked, source: draftId === undefined ? { parts: inlineParts(body) } : { draftId } };
}
