import type { TestCommand } from '../../app/campaigns/test-campaign.ts';
import { platforms } from '../../domain/campaigns/content.ts';
import type { SearchVersion } from '../../domain/campaigns/campaign-search.ts';
import { isAbsent, readRequestId, takeParts } from './parse-authoring.ts';
import { makeCampaignReader } from './campaign-reader.ts';
import type { Body, CampaignReader } from './campaign-reader.ts';

export type TestAsked = Pick<TestCommand, 'source' | 'identifier' | 'values' | 'platform' | 'requestId'>;

const maxIdentifiers = 10;

/** Reads a test (fact 6.1): what is shown, or in V5 the draft that holds it, and to whom. */
export function parseTest(
  body: Body,
  { version, requestIdHeader }: { version: SearchVersion; requestIdHeader?: string | undefined },
): TestAsked {
  const reader = makeCampaignReader();
  const draftId = version === 'V5' && !isAbsent(body.draft_id) ? reader.text(body.draft_id, 'draft_id') : undefined;
  const required = [
    ...(version === 'V1' ? ['request_id', 'basic_details'] : []),
    ...(draftId === undefined ? ['channel', 'campaign_content'] : []),
    'test_campaign_meta',
  ];
  for (const field of required) if (isAbsent(body[field])) reader.missing(field);
  if (draftId !== undefined && !isAbsent(body.campaign_content))
    reader.invalid('draft_id', 'cannot stand beside campaign_content');
  // Nothing is personalised by values that a request brings.
  if (!isAbsent(body.personalization_details))
    reader.invalid('personalization_details', 'is not available in this version');
  const requestId = readRequestId(reader, body, requestIdHeader);
  const meta = readMeta(reader, reader.record(body.test_campaign_meta, 'test_campaign_meta'));
  reader.throwFaults();
  return { ...meta!, requestId, source: draftId === undefined ? { parts: inlineParts(body) } : { draftId } };
}

function readMeta(reader: CampaignReader, meta: Body | undefined) {
  if (!meta) return undefined;
  const at = (name: string): string => `test_campaign_meta.${name}`;
  for (const name of ['identifier', 'identifier_values']) if (isAbsent(meta[name])) reader.missing(at(name));
  const values = reader.texts(meta.identifier_values, at('identifier_values')) ?? [];
  if (values.length > maxIdentifiers)
    reader.invalid(at('identifier_values'), `must be a list of 1 to ${maxIdentifiers} texts`);
  // There is one locale and one variation.
  for (const [name, only] of [
    ['locale_name', ['default']],
    ['variation', ['variation_1', '1', 1]],
  ] as const) {
    if (!isAbsent(meta[name]) && !(only as readonly unknown[]).includes(meta[name]))
      reader.invalid(at(name), `must be ${only[0]}: others are not available in this version`);
  }
  const platform = isAbsent(meta.platform)
    ? undefined
    : reader.choices([meta.platform], at('platform'), platforms)?.[0];
  return { identifier: reader.text(meta.identifier, at('identifier')) ?? '', values, platform };
}

/** V5 lets the platforms be those that content is sent for. */
export function inlineParts(body: Body) {
  const parts = takeParts(body);
  const details = (parts.basic_details ?? {}) as Body;
  if (!isAbsent(details.platforms)) return parts;
  const content = (parts.campaign_content as { content?: { push?: object } } | undefined)?.content;
  const shown = Object.keys(content?.push ?? {}).map((name) => name.toUpperCase());
  return { ...parts, basic_details: { ...details, platforms: shown } };
}
