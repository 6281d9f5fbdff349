import type { PreviewRequest } from '../../app/campaigns/preview-campaign.ts';
import { platforms } from '../../domain/campaigns/content.ts';
import { makeCampaignReader, optionalText, refuseFaults } from './campaign-reader.ts';
import type { Body } from './campaign-reader.ts';
import { inlineParts, readShownVariant } from './parse-test.ts';

/**
 * Reads what is to be rendered, content or a draft, and for whom; with `anybody`, a body that names no user is rendered
 * for a user without attributes.
 *
 * @throws ServiceError CAMPAIGN_REQUEST_INVALID
 */
export function parsePreview(body: Body, meant: 'named' | 'anybody' = 'named'): Omit<PreviewRequest, 'workspaceId'> {
  const reader = makeCampaignReader(body);
  const isNobody = meant === 'anybody' && reader.isAbsent('identifier') && reader.isAbsent('identifier_value');
  const draftId = optionalText(reader, 'draft_id');
  const required = [
    ...(isNobody ? [] : ['identifier', 'identifier_value']),
    ...(draftId === undefined ? ['channel', 'campaign_content'] : []),
  ];
  for (const name of required) reader.requires(name);
  if (draftId !== undefined && !reader.isAbsent('campaign_content'))
    reader.invalid('draft_id', 'cannot stand beside campaign_content');
  const text = (name: string): string => optionalText(reader, name) ?? '';
  const asked = {
    named: isNobody ? undefined : { identifier: text('identifier'), value: text('identifier_value') },
    platform: reader.isAbsent('platform') ? undefined : reader.choice('platform', platforms),
    shown: readShownVariant(reader),
    event: reader.isAbsent('event_attributes') ? {} : reader.part('event_attributes').members,
  };
  refuseFaults(reader);
  return { ...asked, source: draftId === undefined ? { parts: inlineParts(body) } : { draftId } };
}
