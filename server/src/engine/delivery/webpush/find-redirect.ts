import { maxPushIdCharacters } from '../../../domain/devices/limits.ts';
import type { Answer, Plan } from '../provider.ts';

/** Where a message goes at a push service. */
export type Place = Pick<Plan, 'origin' | 'path'>;

/**
 * The place that an answer redirects a message to, or undefined. Only 307 and 308 are followed (RFC 9110 §15.4.8, §15.4.9):
 * they ask for the same request again. After 301 and 302 many servers expect a GET, and a page that answers 200 to anything
 * would look as if it had accepted the message. Mozilla documents its 301 for its own bridges only.
 */
export function findRedirect(answer: Answer, from: Place): Place | undefined {
  if (answer.kind !== 'answer' || (answer.status !== 307 && answer.status !== 308)) return undefined;
  const { location } = answer.headers;
  if (location === undefined || location.length > maxPushIdCharacters) return undefined;
  const base = `${from.origin}${from.path}`;
  if (!URL.canParse(location, base)) return undefined;
  const to = new URL(location, base);
  // The rules of a subscription's endpoint. Its address is checked when connecting.
  if (to.protocol !== 'https:' || to.username !== '' || to.password !== '') return undefined;
  return { origin: to.origin, path: `${to.pathname}${to.search}` };
}
