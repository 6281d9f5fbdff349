import type { FieldAnswerName } from '../../src/domain/sandbox/faults.ts';
import type { Answer } from '../../src/providers/provider.ts';
import { fieldAnswer } from '../engine/delivery/simulator/field-answer.ts';
import { fcmError, googleError } from '../../src/providers/fcm/simulator-rules.ts';
import { hmsAnswer } from '../../src/providers/hms/simulator-rules.ts';
import { headersOf, textOf } from '../../src/providers/simulator/simulator.ts';

/** The providers of the world: one for each way in which the product judges an answer. */
export type WorldProvider = 'fcm' | 'apns' | 'webpush' | 'hms';

/**
 * What an answer is about, which only the simulator knows: a provider gives the same answer for a device and for an
 * account. `passing`: trouble of the server or the network that says nothing of either.
 */
export type About = 'acceptance' | 'death' | 'message' | 'device' | 'account' | 'passing';

/** An answer as it comes from the network, and the simulator's truth of it. */
export type TrueAnswer = {
  answer: Answer;
  about: About;
  /** What the ledger must have if this is the last answer that was stored; such a message is not sent again. */
  final?: 'ACCEPTED' | 'GONE' | 'REJECTED';
  /** How long the sender must wait before it sends to the device or the account again; ten seconds if a busy server names no time. */
  waitSeconds?: number;
  /** The address can never be sent to, but this answer alone does not say so. */
  isForEver?: boolean;
  /** For the trace. */
  word: string;
};

type Given = { status: number; body?: unknown; headers?: Record<string, string> };

/** What is asked for when a provider says nothing (engine/fan-out/settle-outcome.ts). */
const minWaitSeconds = 10;

export function accepted(provider: WorldProvider): TrueAnswer {
  const given: Record<WorldProvider, Given> = {
    fcm: { status: 200, body: { name: 'projects/p/messages/0:1%1' } },
    apns: { status: 200, headers: { 'apns-id': 'p' } },
    webpush: { status: 201, headers: { location: 'https://push.example/message/p' } },
    hms: { status: 200, body: { code: '80000000', msg: 'Success', requestId: 'p' } },
  };
  return { ...http(given[provider]), about: 'acceptance', final: 'ACCEPTED' };
}

/** The provider says that the address is dead. One such answer of Huawei or of a push service is not a proof. */
export function dead(provider: WorldProvider, now: Date): TrueAnswer {
  switch (provider) {
    case 'fcm': {
      const given = googleError(404, 'NOT_FOUND', 'Requested entity was not found.', [fcmError('UNREGISTERED')]);
      return { ...http(given, 'UNREGISTERED'), about: 'death', final: 'GONE' };
    }
    case 'apns': {
      const body = { reason: 'Unregistered', timestamp: now.getTime() };
      return { ...http({ status: 410, body }, 'Unregistered'), about: 'death', final: 'GONE' };
    }
    case 'webpush':
      return { ...http({ status: 410 }), about: 'death', isForEver: true };
    case 'hms':
      return {
        ...http(hmsAnswer(200, '80300007', 'All tokens are invalid.'), '80300007'),
        about: 'death',
        isForEver: true,
      };
  }
}

/** The provider rejects the message, whatever the device. */
export function messageRefused(provider: WorldProvider): TrueAnswer {
  const fieldViolations = [{ field: 'message.data', description: 'Android message is too big.' }];
  const badRequest = { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations };
  const given: Record<WorldProvider, Given> = {
    fcm: googleError(400, 'INVALID_ARGUMENT', 'Android message is too big.', [
      fcmError('INVALID_ARGUMENT'),
      badRequest,
    ]),
    apns: { status: 413, body: { reason: 'PayloadTooLarge' } },
    webpush: { status: 413 },
    hms: hmsAnswer(200, '80300008', 'The message body size exceeds the default value.'),
  };
  return { ...http(given[provider]), about: 'message', final: 'REJECTED' };
}

export function busy(provider: WorldProvider, retryAfterSeconds?: number): TrueAnswer {
  const given: Record<WorldProvider, Given> = {
    fcm: googleError(503, 'UNAVAILABLE', 'The service is currently unavailable.'),
    apns: { status: 503, body: { reason: 'ServiceUnavailable' } },
    webpush: { status: 503 },
    hms: { status: 503, body: 'Traffic control.' },
  };
  // Huawei counts by account and says so with this status.
  return waiting({ ...given[provider], ...retryAfter(retryAfterSeconds) }, provider === 'hms' ? 'account' : 'passing');
}

/** The project sends too much; at providers without such a limit the device gets too much. */
export function accountLimited(provider: WorldProvider, retryAfterSeconds: number): TrueAnswer {
  switch (provider) {
    case 'fcm': {
      const given = fieldAnswer('fcm', 'project-limited', '');
      return waiting({ ...given, ...retryAfter(retryAfterSeconds) }, 'account');
    }
    case 'hms':
      return busy('hms', retryAfterSeconds);
    case 'apns':
      return waiting({ status: 429, body: { reason: 'TooManyRequests' } }, 'device');
    case 'webpush':
      return waiting({ status: 429, ...retryAfter(retryAfterSeconds) }, 'device');
  }
}

/** The connection was reset before or after the provider took the message: the worker cannot tell. */
export function reset(): TrueAnswer {
  const answer: Answer = { kind: 'failure', certainty: 'unknown', reason: 'reset', detail: 'ECONNRESET' };
  return { answer, about: 'passing', waitSeconds: minWaitSeconds, word: 'RESET' };
}

/** No connection, which concerns every device that this host serves. */
export function unreached(detail = 'connect ECONNREFUSED'): TrueAnswer {
  const answer: Answer = { kind: 'failure', certainty: 'unsent', reason: 'unreachable', detail };
  return { answer, about: 'account', word: 'UNREACHABLE' };
}

/** The provider refuses the credential itself, for every device. */
export function credentialRefused(provider: 'fcm' | 'apns' | 'hms'): TrueAnswer {
  const given: Record<typeof provider, Given> = {
    fcm: googleError(403, 'PERMISSION_DENIED', "Permission 'cloudmessaging.messages.create' denied."),
    apns: { status: 403, body: { reason: 'InvalidProviderToken' } },
    hms: hmsAnswer(200, '80300002', 'The app does not have the permission to send messages.'),
  };
  return { ...http(given[provider]), about: 'account' };
}

type FromField = { provider: WorldProvider; name: FieldAnswerName; device: string };

/** An answer of the field for one device. */
export function aboutDevice({ provider, name, device }: FromField): TrueAnswer {
  const given = fieldAnswer(provider, name, device);
  const isWait = ['limited', 'limited-bare', 'throttled'].includes(name);
  return isWait ? waiting(given, 'device') : { ...http(given, name), about: 'device' };
}

/** The same answer for every device of an account. */
export function aboutAccount(from: FromField): TrueAnswer {
  return { ...http(fieldAnswer(from.provider, from.name, from.device), from.name), about: 'account' };
}

function waiting(given: Given, about: About): TrueAnswer {
  const asked = given.headers?.['retry-after'];
  return { ...http(given), about, waitSeconds: asked === undefined ? minWaitSeconds : Number(asked) };
}

function retryAfter(seconds: number | undefined): { headers?: Record<string, string> } {
  return seconds === undefined ? {} : { headers: { 'retry-after': String(seconds) } };
}

function http(given: Given, word = ''): { answer: Answer; word: string } {
  return {
    answer: { kind: 'answer', status: given.status, headers: headersOf(given), body: textOf(given) },
    word: `${given.status} ${word}`.trim(),
  };
}
