import type { Answer, Outcome } from '../provider.ts';
import { classifyFailure, classifyServerFault, readJsonAnswer, readWord, waitOf } from '../classify-fault.ts';

/** 400 reasons that concern the token; every other 400 is our own fault (delivery 2). */
const deadTokenReasons = new Set(['BadDeviceToken', 'DeviceTokenNotForTopic']);

/** What Apple's answer means, by its `reason`. Pure. */
export function classifyApnsAnswer(answer: Answer, now: Date): Outcome {
  if (answer.kind === 'failure') return classifyFailure(answer);
  if (answer.status === 200) {
    const id = readWord(answer.headers['apns-id']);
    return { kind: 'accepted', ...(id === undefined ? {} : { providerMessageId: id }) };
  }
  if (answer.status >= 500) return classifyServerFault(answer, now);
  const body = readJsonAnswer(answer.body) as { reason?: unknown; timestamp?: unknown } | undefined;
  const code = readWord(body?.reason) ?? String(answer.status);
  const detail = `HTTP ${answer.status} ${code}`;
  switch (answer.status) {
    case 410: {
      // Milliseconds since which the token is dead: an app that registered later keeps its device.
      const goneSince = readTimestamp(body?.timestamp, now);
      return { kind: 'gone', code, ...(goneSince === undefined ? {} : { goneSince }) };
    }
    case 400:
      return deadTokenReasons.has(code) ? { kind: 'gone', code } : { kind: 'rejected', code, detail };
    case 403:
      return { kind: 'stopped', code, detail };
    case 429: {
      const scope = code === 'TooManyProviderTokenUpdates' ? 'credential' : 'device';
      return { kind: 'wait', code, scope, ...waitOf(answer, now) };
    }
    default:
      return { kind: 'rejected', code, detail };
  }
}

/** A time in the past; an invalid number would later become an invalid date. */
function readTimestamp(value: unknown, now: Date): Date | undefined {
  if (typeof value !== 'number' || !(value > 0)) return undefined;
  return new Date(Math.min(value, now.getTime()));
}
