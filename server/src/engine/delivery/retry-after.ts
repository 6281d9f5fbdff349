/**
 * Seconds that a Retry-After header asks to wait, in both of its forms (RFC 9110 §10.2.3): whole seconds or a date.
 * Undefined when it is absent or unreadable. At most a day: a longer wait outlives any message worth sending.
 */
export function retryAfterSeconds(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now.getTime()) / 1000;
  if (Number.isNaN(seconds)) return undefined;
  return Math.min(Math.max(0, Math.ceil(seconds)), 86_400);
}
