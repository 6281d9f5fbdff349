import { findBrowserFault } from './browser-rules.ts';
import type { FcmViolation } from './fcm-violation.ts';

/** `message.webpush` of FCM HTTP v1. */
export type FcmWebPush = {
  headers?: Record<string, unknown>;
  data?: Record<string, unknown>;
  notification?: unknown;
  fcm_options?: Record<string, unknown>;
};

const maxPayloadBytes = 4096;
const members = new Set(['headers', 'data', 'notification', 'fcm_options']);
const headers: Record<string, RegExp> = {
  TTL: /^\d+$/,
  Urgency: /^(very-low|low|normal|high)$/,
  Topic: /^[A-Za-z0-9_-]{1,32}$/,
};

/** The first thing for which Google, or a push service behind it, refuses a message. */
export function findWebPushViolation(webpush: FcmWebPush): FcmViolation | undefined {
  const at = (field: string, description: string): FcmViolation => ({ field: `message.webpush${field}`, description });
  const unknown = Object.keys(webpush).find((name) => !members.has(name));
  if (unknown !== undefined) return at(`.${unknown}`, `Unknown name "${unknown}".`);
  for (const [name, value] of Object.entries(webpush.headers ?? {}))
    if (typeof value !== 'string' || headers[name]?.test(value) !== true)
      return at('.headers', `Invalid value at '${name}'.`);
  const data = Object.entries(webpush.data ?? {});
  if (!data.every(([, value]) => typeof value === 'string')) return at('.data', 'Data values must be strings.');
  const bytes = data.reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(String(value)),
    0,
  );
  if (bytes > maxPayloadBytes) return at('.data', 'Web Push message is too big.');
  const { link } = webpush.fcm_options ?? {};
  if (link !== undefined && !(typeof link === 'string' && link.startsWith('https://')))
    return at('.fcm_options.link', 'Only HTTPS is supported.');
  const fault = webpush.data?.carillon === undefined ? undefined : findPayloadFault(webpush.data.carillon);
  return fault === undefined ? undefined : at('.data', fault);
}

/** What the site's worker is handed; Google cannot see it, and the simulator tells the developer. */
export function readBrowserPayload({ data }: FcmWebPush): Record<string, unknown> {
  try {
    return JSON.parse(String(data?.carillon)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function findPayloadFault(text: unknown): string | undefined {
  const payload = readBrowserPayload({ data: { carillon: text } });
  return Object.keys(payload).length === 0 ? 'the worker cannot read this payload' : findBrowserFault(payload);
}
