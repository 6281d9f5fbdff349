import { mergePatch } from '../../../domain/provider-overrides/merge-patch.ts';
import { isObject } from '../../../domain/request-reader/request-reader.ts';
import { findHeaderFault } from '../override-headers.ts';
import { makeIosPayload } from './ios-payload.ts';
import type { IosMessage } from './ios-payload.ts';

/** What Apple gets, whoever hands it over. `changed`: headers that the caller's override sets, or takes away with null. */
export type IosRequest = { headers: Record<string, string>; changed: Record<string, string | null>; payload: object };

/** With the caller's override, or why that cannot be sent. Pure. */
export function makeIosRequest(message: IosMessage, now: Date): IosRequest | { fault: string } {
  const payload = overrideIosPayload(message);
  const { headers: changed = {} } = message.content.overrides?.apns ?? {};
  const fault = payload === undefined ? 'aps is no object' : findHeaderFault('apns', changed);
  return payload === undefined || fault !== undefined
    ? { fault: fault! }
    : { headers: makeHeaders(message, now), changed, payload };
}

function makeHeaders(message: IosMessage, now: Date): Record<string, string> {
  const expiration = message.ttlSeconds === 0 ? 0 : Math.floor(now.getTime() / 1000) + message.ttlSeconds;
  return {
    // Apple refuses a silent message of another priority.
    'apns-push-type': message.isSilent ? 'background' : 'alert',
    'apns-priority': message.isSilent ? '5' : String(message.priority),
    'apns-expiration': String(expiration),
    'apns-collapse-id': message.identity.collapseId,
  };
}

/** The payload with the caller's override; undefined if that leaves nothing Apple would show. */
export function overrideIosPayload(message: IosMessage): object | undefined {
  const payload = makeIosPayload(message);
  const patch = message.content.overrides?.apns?.payload;
  if (patch === undefined) return payload;
  // What stands beside `aps` under our prefix is the app's to believe, whatever the prefix was when it was accepted.
  const { [message.dataPrefix]: _own, ...allowed } = patch;
  const merged = mergePatch(payload, allowed) as { aps?: unknown };
  return isObject(merged.aps) ? merged : undefined;
}
