import type { UtmParameters } from '../content/utm.ts';
import { maxUtmCharacters, maxUtmCustomParameters } from '../limits/campaigns.ts';
import { openPart, plain, readWith, required, text } from '../../fields/combinators.ts';
import type { RequestReader } from '../../fields/request-reader.ts';

const value = plain({ max: maxUtmCharacters });
const members = {
  utm_source: required(value),
  utm_medium: required(value),
  utm_campaign: value,
  utm_term: value,
  utm_content: value,
};

/** The parameters that are added to the links of a campaign when it is sent (fact 6.2). */
export const utmParams = readWith<UtmParameters>(
  openPart(members, { others: text(), description: `Added to links; at most ${maxUtmCustomParameters} other names` }),
  readUtm,
);

function readUtm(record: RequestReader, name: string): UtmParameters | undefined {
  const part = record.findPart(name);
  if (!part) return undefined;
  for (const needed of ['utm_source', 'utm_medium']) part.requires(needed);
  const custom = part.names().filter((each) => !Object.hasOwn(members, each));
  if (custom.length > maxUtmCustomParameters)
    record.invalid(name, `may have at most ${maxUtmCustomParameters} parameters of other names`);
  const utm: Record<string, string> = {};
  for (const each of part.names()) {
    if (!/^[A-Za-z0-9_.~-]{1,64}$/.test(each)) part.invalid(each, 'must be a name of letters, digits and _.~-');
    const sent = value.read(part, each);
    if (sent !== undefined) utm[each] = sent;
  }
  return utm;
}
