import type { Platform } from './content.ts';
import { changeTexts } from './texts.ts';
import type { OwnContent } from './texts.ts';

/** Parameters that tell a site's analytics where a visitor came from: `utm_source`, `utm_medium` and others, by name. */
export type UtmParameters = Readonly<Record<string, string>>;

/**
 * Adds parameters to the links of a content: what a tap opens, and what its buttons open. Templates must have been rendered
 * before: only then is it known which parameters a link has.
 */
export function withUtm<P extends Platform>(
  content: OwnContent[P],
  { platform, utm }: { platform: P; utm: UtmParameters },
): OwnContent[P] {
  return changeTexts(platform, {
    content,
    change: (text, { field }) => (isLink(field) ? addUtm(text, utm) : text),
  });
}

function isLink(field: string): boolean {
  return field === 'redirectUrl' || field === 'defaultAction.value' || field.endsWith('.url');
}

/**
 * Adds the parameters that a web address does not have; an address of an app stays as it is. Everything else in the address is
 * kept byte for byte, because a site may have signed it. Pure.
 */
export function addUtm(address: string, utm: UtmParameters): string {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return address;
  const at = address.indexOf('#');
  const [before, fragment] = at === -1 ? [address, ''] : [address.slice(0, at), address.slice(at)];
  const query = before.indexOf('?');
  const present = new URLSearchParams(query === -1 ? '' : before.slice(query));
  const added = Object.entries(utm)
    .toSorted(([one], [other]) => placeOf(one) - placeOf(other))
    .filter(([name]) => !present.has(name))
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  if (added.length === 0) return address;
  const join = query === -1 ? '?' : /[?&]$/.test(before) ? '' : '&';
  return `${before}${join}${added.join('&')}${fragment}`;
}

/** A stored object does not keep the order of its members, and equal campaigns should have equal links. */
function placeOf(name: string): number {
  const place = usualOrder.indexOf(name);
  return place === -1 ? usualOrder.length : place;
}

const usualOrder = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'];
