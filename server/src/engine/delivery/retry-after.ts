/**
 * Seconds that a Retry-After header asks to wait, in both of its forms (RFC 9110 §10.2.3): whole seconds or a date.
 * Undefined when it is absent or unreadable. At most a day: a longer wait outlives any message worth sending.
 */
export function retryAfterSeconds(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const seconds = /^\d+$/.test(text) ? Number(text) : secondsUntil(text, now);
  if (Number.isNaN(seconds)) return undefined;
  return Math.min(Math.max(0, Math.ceil(seconds)), 86_400);
}

/** Every form of a date in HTTP begins with the name of the day; of `1.5` a date could be made as well. */
function secondsUntil(text: string, now: Date): number {
  return /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? (Date.parse(text) - now.getTime()) / 1000 : Number.NaN;
}
