import type { HmsCredential } from '../../../domain/provider-credential.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';
import { makeHmsPart } from './hms-part.ts';
import { overrideHmsPart } from './override-hms-part.ts';

// Of the body without the tokens.
export const maxBodyBytes = 4096;

/** The request for one phone: Huawei's answer for several does not say which of them are meant. Pure. */
export function planHmsRequest(
  { message, device, credential }: PlanInput<HmsCredential>,
  origin: string,
): { plan: Plan } | { outcome: Outcome } {
  if (message.platform !== 'ANDROID') throw new Error(`Huawei Push Kit serves Android, not ${message.platform}`);
  const part = overrideHmsPart(makeHmsPart(message), message);
  if ('fault' in part) return { outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail: part.fault } };
  const body = Buffer.from(JSON.stringify({ message: { ...part, token: [device.pushId] } }));
  const bytes = body.length - Buffer.byteLength(device.pushId);
  if (bytes > maxBodyBytes) {
    const detail = `${bytes} bytes without the token; Huawei Push Kit takes ${maxBodyBytes}`;
    return { outcome: { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail } };
  }
  const { kind, id } = credential.owner;
  return {
    plan: {
      origin,
      path: `/${kind === 'project' ? 'v2' : 'v1'}/${encodeURIComponent(id)}/messages:send`,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body,
    },
  };
}
