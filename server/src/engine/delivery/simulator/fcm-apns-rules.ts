import { checkApnsContent } from './iphone.ts';
import type { ApnsPayload } from './iphone.ts';
import type { FcmViolation } from './fcm-violation.ts';

/** `message.apns` of FCM HTTP v1. */
export type FcmApns = {
  headers?: Record<string, string>;
  payload?: ApnsPayload;
  fcm_options?: Record<string, unknown>;
  live_activity_token?: unknown;
};

const maxPayloadBytes = 4096;
const members = new Set(['headers', 'payload', 'fcm_options', 'live_activity_token']);
/** The topic is that of the app that the token is of. */
const headerNames = new Set(['apns-push-type', 'apns-priority', 'apns-expiration', 'apns-collapse-id', 'apns-id']);

/** The first thing for which Google, or Apple behind it, refuses a message. */
export function findApnsViolation(apns: FcmApns): FcmViolation | undefined {
  const at = (field: string, description: string): FcmViolation => ({ field: `message.apns${field}`, description });
  const { headers = {}, payload, fcm_options: options = {}, live_activity_token: activity } = apns;
  const unknown = Object.keys(apns).find((name) => !members.has(name));
  if (unknown !== undefined) return at(`.${unknown}`, `Unknown name "${unknown}".`);
  for (const [name, value] of Object.entries(headers)) {
    if (!headerNames.has(name)) return at('.headers', `Header ${name} is not taken.`);
    if (typeof value !== 'string') return at('.headers', `Invalid value at '${name}'.`);
  }
  if (!['undefined', 'string'].includes(typeof activity)) return at('.live_activity_token', 'Invalid value.');
  const [option] = Object.entries(options).find(([name, value]) => !isOption(name, value)) ?? [];
  if (option !== undefined) return at(`.fcm_options.${option}`, `Invalid value at '${option}'.`);
  if (payload === undefined) return undefined;
  if (payload.aps === null || typeof payload.aps !== 'object') return at('.payload.aps', 'aps is required.');
  if (Buffer.byteLength(JSON.stringify(payload)) > maxPayloadBytes) return at('.payload', 'APNs payload is too big.');
  const reason = checkApnsContent(payload.aps, headers);
  return reason === undefined ? undefined : at('.payload', reason);
}

function isOption(name: string, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  return name === 'image' ? URL.canParse(value) : name === 'analytics_label' && /^[a-zA-Z0-9-_.~%]{1,50}$/.test(value);
}
