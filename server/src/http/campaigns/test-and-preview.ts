import { Type } from 'typebox';
import type { PreviewRequest, Preview } from '../../app/campaigns/preview-campaign.ts';
import type { TestCommand, TestResult } from '../../app/campaigns/test-campaign.ts';
import type { SearchVersion } from '../../domain/campaigns/campaign.ts';
import { campaignDocument } from '../../domain/campaign-document/campaign.ts';
import { platforms } from '../../domain/content/content.ts';
import { maxTestIdentifiers } from '../../domain/limits/campaigns.ts';
import {
  anyObject,
  anything,
  part,
  readWith,
  refused,
  required,
  text,
  texts,
  unlessEmpty,
  withDescription,
  word,
} from '../../fields/combinators.ts';
import { reading, schemaRequiring } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { named, text as textShape } from '../openapi/shapes.ts';
import { readRequestId, takeParts, v5Answer } from './authoring.ts';
import { makeCampaignReader, refuseFaults } from './campaign-reader.ts';
import type { Body } from './campaign-reader.ts';
import { presentPushContent } from './push-content.ts';

const shownVariant = {
  locale_name: unlessEmpty(text({ description: "`default` or a language of the campaign; absent: each user's own" })),
  variation: readWith<number>(
    withDescription(anything, 'variation_1, variation_2 …; absent: variation_1'),
    readVariation,
  ),
};
const identifier = text({
  description: 'USER_ATTRIBUTE_UNIQUE_ID, another name of the push API, or an attribute',
});
const identifierValues = texts({ description: 'At most ten' });
const draftId = unlessEmpty(text({ description: 'Instead of campaign_content' }));

const testedMembers = {
  identifier: required(identifier),
  identifier_values: required(identifierValues),
  platform: unlessEmpty(word(platforms)),
  ...shownVariant,
};

const testMembers = {
  ...campaignDocument,
  test_campaign_meta: part(testedMembers, { title: 'CampaignTestMeta' }),
  // A request cannot supply values for personalisation.
  personalization_details: refused(anyObject),
};

export const v1TestBody = schemaRequiring(
  { request_id: text(), ...testMembers },
  { title: 'CampaignTestRequestV1', names: ['request_id', 'test_campaign_meta'] },
);
export const v5TestBody = schemaRequiring(
  { request_id: text(), draft_id: draftId, ...testMembers },
  { title: 'CampaignTestRequestV5', names: ['test_campaign_meta'] },
);

export type TestAsked = Pick<TestCommand, 'source' | 'identifier' | 'values' | 'platform' | 'shown' | 'requestId'>;

/** Parses a test (fact 6.1): the content, or in V5 the draft that contains it, and the users. */
export function parseTest(
  body: Body,
  { version, requestIdHeader }: { version: SearchVersion; requestIdHeader?: string | undefined },
): TestAsked {
  const reader = makeCampaignReader(body);
  const draft = version === 'V5' ? draftId.read(reader, 'draft_id') : undefined;
  const names = [
    ...(version === 'V1' ? ['request_id', 'basic_details'] : []),
    ...(draft === undefined ? ['channel', 'campaign_content'] : []),
    'test_campaign_meta',
  ];
  for (const name of names) reader.requires(name);
  refuseTwoSources(reader, draft);
  testMembers.personalization_details.read(reader, 'personalization_details');
  const requestId = readRequestId(reader, requestIdHeader);
  const meta = readMeta(reader.findPart('test_campaign_meta'));
  refuseFaults(reader);
  return { ...meta!, requestId, source: draft === undefined ? { parts: inlineParts(body) } : { draftId: draft } };
}

function refuseTwoSources(reader: RequestReader, draft: string | undefined): void {
  if (draft !== undefined && !reader.isAbsent('campaign_content'))
    reader.invalid('draft_id', 'cannot be combined with campaign_content');
}

function readMeta(meta: RequestReader | undefined) {
  if (!meta) return undefined;
  const read = reading(meta, testedMembers);
  for (const name of ['identifier', 'identifier_values']) meta.requires(name);
  const values = identifierValues.read(meta, 'identifier_values') ?? [];
  if (values.length > maxTestIdentifiers)
    meta.invalid('identifier_values', `must be a list of 1 to ${maxTestIdentifiers} texts`);
  const platform = read('platform');
  return { identifier: identifier.read(meta, 'identifier') ?? '', values, platform, shown: readShownVariant(meta) };
}

function readShownVariant(reader: RequestReader): TestAsked['shown'] {
  const read = reading(reader, shownVariant);
  return { variation: read('variation'), locale: read('locale_name') };
}

/** Reads `variation`, which may be `variation_2`, `"2"` or 2. */
function readVariation(reader: RequestReader, name: string): number | undefined {
  if (reader.isAbsent(name)) return undefined;
  const digit = /^(?:variation_)?([1-9])$/.exec(String(reader.get(name)))?.[1];
  if (digit === undefined) reader.invalid(name, 'must be variation_1, variation_2 …');
  return digit === undefined ? undefined : Number(digit);
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

const previewMembers = {
  draft_id: draftId,
  channel: campaignDocument.channel,
  basic_details: campaignDocument.basic_details,
  campaign_content: campaignDocument.campaign_content,
  platform: unlessEmpty(word(platforms, "One of the campaign's; absent: all of them")),
  ...shownVariant,
  identifier: unlessEmpty(identifier),
  identifier_value: unlessEmpty(text()),
  event_attributes: withDescription(anyObject, 'Attributes of a sample firing of the business event'),
};

export const v5PreviewBody = schemaRequiring(previewMembers, {
  title: 'CampaignPreviewRequest',
  names: ['identifier', 'identifier_value'],
});

/**
 * Parses the content or draft to render and the user to render it for. With `anybody`, a body that names no user is
 * rendered for a user without attributes.
 *
 * @throws ServiceError CAMPAIGN_REQUEST_INVALID
 */
export function parsePreview(body: Body, meant: 'named' | 'anybody' = 'named'): Omit<PreviewRequest, 'workspaceId'> {
  const reader = makeCampaignReader(body);
  const read = reading(reader, previewMembers);
  const isNobody = meant === 'anybody' && reader.isAbsent('identifier') && reader.isAbsent('identifier_value');
  const draft = read('draft_id');
  const names = [
    ...(isNobody ? [] : ['identifier', 'identifier_value']),
    ...(draft === undefined ? ['channel', 'campaign_content'] : []),
  ];
  for (const name of names) reader.requires(name);
  refuseTwoSources(reader, draft);
  const asked = {
    named: isNobody ? undefined : { identifier: read('identifier') ?? '', value: read('identifier_value') ?? '' },
    platform: read('platform'),
    shown: readShownVariant(reader),
    event: reader.isAbsent('event_attributes') ? {} : reader.part('event_attributes').members,
  };
  refuseFaults(reader);
  return { ...asked, source: draft === undefined ? { parts: inlineParts(body) } : { draftId: draft } };
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

/* Responses of a test and a preview. */

export const v5PreviewAnswer = named(
  'CampaignPreview',
  v5Answer({
    customer_id: Type.String(),
    platforms: Type.Record(
      Type.String(),
      Type.Object({
        outcome: Type.String({ description: 'RENDERED, FALLBACK or FAILED' }),
        language: textShape("The locale for all other users; absent: the campaign's texts"),
        content: Type.Optional(
          Type.Unsafe<unknown>({ type: 'object', description: 'The content, in the form of campaign_content' }),
        ),
        failure: Type.Optional(Type.Object({ field: Type.String(), cause: Type.String(), reason: Type.String() })),
      }),
    ),
  }),
);

const testResults = Type.Record(
  Type.String(),
  Type.Object({ status: Type.String({ description: 'success or failed' }), failure_reason: textShape() }),
);
export const v1TestAnswer = named('CampaignTestAnswerV1', Type.Object({ data: testResults, message: Type.String() }));
export const v5TestAnswer = named(
  'CampaignTestAnswerV5',
  Type.Object({
    response_id: Type.String(),
    type: Type.Literal('campaign'),
    data: testResults,
  }),
);
