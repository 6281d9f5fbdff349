import type { PreviewRequest, Preview } from '../../app/campaigns/preview-campaign.ts';
import type { TestCommand, TestResult } from '../../app/campaigns/test-campaign.ts';
import type { SearchVersion } from '../../domain/campaigns/campaign.ts';
import { platforms } from '../../domain/content/content.ts';
import { maxTestIdentifiers } from '../../domain/limits/campaigns.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { readRequestId, takeParts } from './authoring.ts';
import { makeCampaignReader, optionalText, refuseFaults } from './campaign-reader.ts';
import type { Body } from './campaign-reader.ts';
import { presentPushContent } from './push-content.ts';

export type TestAsked = Pick<TestCommand, 'source' | 'identifier' | 'values' | 'platform' | 'shown' | 'requestId'>;

/** Parses a test (fact 6.1): the content, or in V5 the draft that contains it, and the users. */
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
  // A request cannot supply values for personalisation.
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
  const platform = meta.isAbsent('platform') ? undefined : meta.choice('platform', platforms);
  return { identifier: meta.text('identifier') ?? '', values, platform, shown: readShownVariant(meta) };
}

/** Reads `locale_name` and `variation`, which may be `variation_2`, `"2"` or 2. */
function readShownVariant(reader: RequestReader): TestAsked['shown'] {
  const variation = reader.isAbsent('variation') ? undefined : reader.get('variation');
  const digit = /^(?:variation_)?([1-9])$/.exec(String(variation))?.[1];
  if (variation !== undefined && digit === undefined) reader.invalid('variation', 'must be variation_1, variation_2 …');
  return {
    variation: digit === undefined ? undefined : Number(digit),
    locale: reader.isAbsent('locale_name') ? undefined : reader.text('locale_name'),
  };
}

/** In V5 the platforms default to those that have content. */
function inlineParts(body: Body) {
  const parts = takeParts(body);
  const details = (parts.basic_details ?? {}) as Body;
  if (!makeCampaignReader(details).isAbsent('platforms')) return parts;
  const { content } = (parts.campaign_content ?? {}) as { content?: Shown & { default?: { variation_1?: Shown } } };
  const push = content?.push ?? content?.default?.variation_1?.push;
  const shown = Object.keys(push ?? {}).map((name) => name.toUpperCase());
  return { ...parts, basic_details: { ...details, platforms: shown } };
}

type Shown = { push?: object };

/**
 * Parses the content or draft to render and the user to render it for. With `anybody`, a body that names no user is
 * rendered for a user without attributes.
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

/** Presents the result for each identifier of a test: accepted, or no such user. */
export function presentTestResults(results: TestResult[]) {
  return Object.fromEntries(
    results.map(({ value, outcome }) => [
      value,
      outcome === 'found' ? { status: 'success' } : { status: 'failed', failure_reason: 'User not found' },
    ]),
  );
}

/** Presents what each platform would show, with the names of campaign records, or why it would show nothing or the fallback. */
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
