import type { TestCommand } from '../../app/campaigns/test-campaign.ts';
import { platforms } from '../../domain/campaigns/content.ts';
import type { SearchVersion } from '../../domain/campaigns/campaign-search.ts';
import type { RequestReader } from '../../domain/request-reader/request-reader.ts';
import { readRequestId, takeParts } from './parse-authoring.ts';
import { makeCampaignReader, optionalText, refuseFaults } from './campaign-reader.ts';
import type { Body } from './campaign-reader.ts';
import { maxTestIdentifiers } from '../../domain/campaigns/limits.ts';

export type TestAsked = Pick<TestCommand, 'source' | 'identifier' | 'values' | 'platform' | 'requestId'>;

/** Reads a test (fact 6.1): the content, or in V5 the draft that contains it, and the users. */
export function parseTest(
  body: Body,
  { version, requestIdHeader }: { version: SearchVersion; requestIdHeader?: string | undefined },
): TestAsked {
  const reader = makeCampaignReader(body);
  const draftId = version === 'V5' ? optionalText(reader, 'draft_id') : undefined;
  const required = [
    ...(version === 'V1' ? ['request_id', 'basic_details'] : []),
    ...(draftId === undefined ? ['channel', 'campaign_content'] : []),
    'test_campaign_meta',
  ];
  for (const name of required) reader.requires(name);
  if (draftId !== undefined && !reader.isAbsent('campaign_content'))
    reader.invalid('draft_id', 'cannot stand beside campaign_content');
  // Nothing is personalised by values that a request brings.
  reader.refuse('personalization_details');
  const requestId = readRequestId(reader, requestIdHeader);
  const meta = readMeta(reader.findPart('test_campaign_meta'));
  refuseFaults(reader);
  return { ...meta!, requestId, source: draftId === undefined ? { parts: inlineParts(body) } : { draftId } };
}

function readMeta(meta: RequestReader | undefined) {
  if (!meta) return undefined;
  for (const name of ['identifier', 'identifier_values']) meta.requires(name);
  const values = meta.texts('identifier_values') ?? [];
  if (values.length > maxTestIdentifiers)
    meta.invalid('identifier_values', `must be a list of 1 to ${maxTestIdentifiers} texts`);
  // There is one locale and one variation.
  for (const [name, only] of [
    ['locale_name', ['default']],
    ['variation', ['variation_1', '1', 1]],
  ] as const) {
    if (!meta.isAbsent(name) && !(only as readonly unknown[]).includes(meta.get(name)))
      meta.invalid(name, `must be ${only[0]}: others are not available in this version`);
  }
  const platform = meta.isAbsent('platform') ? undefined : meta.choice('platform', platforms);
  return { identifier: meta.text('identifier') ?? '', values, platform };
}

/** In V5 the platforms default to those with content. */
export function inlineParts(body: Body) {
  const parts = takeParts(body);
  const details = (parts.basic_details ?? {}) as Body;
  if (!makeCampaignReader(details).isAbsent('platforms')) return parts;
  const content = (parts.campaign_content as { content?: { push?: object } } | undefined)?.content;
  const shown = Object.keys(content?.push ?? {}).map((name) => name.toUpperCase());
  return { ...parts, basic_details: { ...details, platforms: shown } };
}
