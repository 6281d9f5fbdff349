import type { Clock } from '../../src/clock.ts';
import type { FieldAnswerName } from '../../src/domain/sandbox/faults.ts';
import { fcmError, googleError } from '../../src/providers/fcm/simulator-rules.ts';
import { hmsAnswer } from '../../src/providers/hms/simulator-rules.ts';
import type { Answer } from '../../src/providers/provider.ts';
import { headersOf, textOf } from '../../src/providers/simulator/simulator.ts';
import { fieldAnswer } from '../engine/delivery/simulator/field-answer.ts';
import { hashOf, makeRandom } from '../rig/random.ts';
import type { Random } from '../rig/random.ts';

/** The providers of the world: one for each way in which the product judges an answer. */
export type WorldProvider = 'fcm' | 'apns' | 'webpush' | 'hms';

/**
 * What an answer is about, which only the simulator knows: a provider gives the same answer for a device and for an
 * account. `passing`: trouble of the server or the network that says nothing of either.
 */
type About = 'acceptance' | 'death' | 'message' | 'device' | 'account' | 'passing';

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
function credentialRefused(provider: 'fcm' | 'apns' | 'hms'): TrueAnswer {
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
function aboutAccount(from: FromField): TrueAnswer {
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

/** A sender's account that can fail as a whole: at a provider, or at a push service by its origin. */
type AccountName = string;

type Trouble = {
  account: AccountName;
  provider: WorldProvider;
  /** Real time. */
  from: number;
  until: number;
  /** It ends because a user corrects the credential. */
  isOfCredential: boolean;
  answer(device: string): TrueAnswer;
};

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
/** A wait that began at the end of the trouble may last as long as the longest delay of a retry, and what was asked for. */
const maxLagMilliseconds = 665 * second;

export const pushOrigins = [
  'https://fcm.googleapis.com',
  'https://updates.push.services.mozilla.com',
  'https://wns2-par02p.notify.windows.com',
] as const;

export type AccountTroubles = ReturnType<typeof makeAccountTroubles>;

/**
 * The troubles of whole accounts, by time: minutes in which an account answers with one fault only, and in some worlds a
 * credential that is wrong until a user corrects it.
 */
export function makeAccountTroubles({ seed, clock, hasHms }: { seed: number; clock: Clock; hasHms: boolean }) {
  const random = makeRandom(hashOf(`${seed} troubles`));
  const begin = clock.realNow().getTime();
  const accounts: [AccountName, WorldProvider][] = [
    ['fcm', 'fcm'],
    ['apns', 'apns'],
    ...pushOrigins.map((origin): [AccountName, WorldProvider] => [origin, 'webpush']),
    ...(hasHms ? ([['hms', 'hms']] as [AccountName, WorldProvider][]) : []),
  ];
  const troubles = [...drawOutages(random, { begin, accounts }), ...drawWrongCredentials(random, { begin, hasHms })];
  return {
    of: (account: AccountName): Trouble | undefined => {
      const now = clock.realNow().getTime();
      return troubles.find((trouble) => trouble.account === account && trouble.from <= now && now < trouble.until);
    },
    /** How often the credential of a provider has been corrected by now. */
    corrections(provider: WorldProvider): number {
      const now = clock.realNow().getTime();
      return troubles.filter((one) => one.isOfCredential && one.provider === provider && one.until <= now).length;
    },
    /** Real milliseconds until the next credential is corrected. */
    untilCorrection(): number {
      const now = clock.realNow().getTime();
      return Math.min(...troubles.flatMap((one) => (one.isOfCredential && one.until > now ? [one.until - now] : [])));
    },
    /** True if the account had a trouble at an instant of real time, or waits may still follow from one. */
    hadTrouble: (account: AccountName, at: number): boolean =>
      troubles.some(
        (one) =>
          one.account === account &&
          one.from <= at &&
          at < one.until + (one.isOfCredential ? minute : maxLagMilliseconds),
      ),
  };
}

type Drawing = { begin: number; accounts: [AccountName, WorldProvider][] };

function drawOutages(random: Random, { begin, accounts }: Drawing): Trouble[] {
  return Array.from({ length: random.between(0, 3) }, (): Trouble => {
    const from = begin + random.between(0, 3_600_000);
    const [account, provider] = accounts[random.between(0, accounts.length - 1)]!;
    const until = from + random.between(10, 900) * second;
    const seconds = random.between(5, 120);
    const kinds = [() => unreached(), () => busy(provider), () => accountLimited(provider, seconds)];
    const answer = kinds[random.between(0, 2)]!;
    return { account, provider, from, until, isOfCredential: false, answer };
  });
}

function drawWrongCredentials(random: Random, { begin, hasHms }: { begin: number; hasHms: boolean }): Trouble[] {
  const from = begin + random.between(0, 10) * minute;
  const until = from + random.between(10, 40) * minute;
  const of = (provider: WorldProvider, answer: Trouble['answer']): Trouble => {
    return { account: provider, provider, from, until, isOfCredential: true, answer };
  };
  const share = random.next();
  if (share < 0.1)
    return [of('apns', (device) => aboutAccount({ provider: 'apns', name: 'wrong-environment', device }))];
  if (share < 0.15) return [of('apns', (device) => aboutAccount({ provider: 'apns', name: 'wrong-topic', device }))];
  if (share < 0.2) return [of('apns', () => credentialRefused('apns'))];
  if (share < 0.25) return [of('fcm', () => credentialRefused('fcm'))];
  if (share < 0.35 && hasHms)
    return [of('hms', (device) => aboutAccount({ provider: 'hms', name: 'wrong-app', device }))];
  if (share < 0.4)
    // A proxy that leads nowhere, from the beginning: of this push service no browser was ever reached.
    return pushOrigins.slice(0, 1).map((account) => ({
      ...{ account, provider: 'webpush', from: begin, until, isOfCredential: false },
      answer: (device) => aboutAccount({ provider: 'webpush', name: 'not-found', device }),
    }));
  return [];
}

/**
 * The condition of a device, which lasts as long as the world. This is the simulator's own assignment: the auditor judges
 * by it whether an answer concerns a device, and never by what the product makes of the answer.
 */
export type DeviceCondition =
  | { kind: 'healthy' }
  /** The device gets too many messages, for some minutes of each period. */
  | { kind: 'limited' | 'throttled'; name: 'limited' | 'limited-bare' | 'throttled'; phase: number }
  /** Refused at its first messages, or for about a day, as a few iPhones are. */
  | { kind: 'sporadic'; refusals: number; refusedUntil: number }
  /** The address never works, and no answer says so for certain. */
  | { kind: 'malformed' | 'outdated' | 'foreign' }
  /** The host of the subscription is gone. */
  | { kind: 'unresolved' }
  | { kind: 'dead' };

const limitPeriod = 40 * minute;
const limitLasts = 15 * minute;

type Of = { provider: WorldProvider; origin: string | undefined; begin: number };

/** A device's condition by chance: four of five are healthy. */
export function drawCondition(random: Random, { provider, origin, begin }: Of): DeviceCondition {
  const share = random.next();
  const phase = begin + random.between(0, limitPeriod);
  if (share < 0.05) return { kind: 'dead' };
  switch (provider) {
    case 'fcm':
      if (share < 0.15) return { kind: 'limited', name: share < 0.12 ? 'limited' : 'limited-bare', phase };
      return { kind: share < 0.2 ? 'malformed' : 'healthy' };
    case 'apns':
      return { kind: share < 0.08 ? 'foreign' : 'healthy' };
    case 'webpush':
      if (origin?.includes('windows') && share < 0.35) return { kind: 'throttled', name: 'throttled', phase };
      return { kind: share < 0.1 ? 'outdated' : 'healthy' };
    case 'hms':
      return share < 0.2 ? { kind: 'limited', name: 'limited', phase } : { kind: 'healthy' };
  }
}

/** Most are refused once or twice; some for about a day. */
export function drawSporadic(random: Random, begin: number): DeviceCondition {
  return random.next() < 0.3
    ? { kind: 'sporadic', refusals: Infinity, refusedUntil: begin + random.between(20, 26) * hour }
    : { kind: 'sporadic', refusals: random.between(1, 2), refusedUntil: Infinity };
}

type Asking = { provider: WorldProvider; device: string; condition: DeviceCondition; asked: number; now: Date };

/** Returns what the provider answers because of the device's condition; undefined while the device works. */
export function answerForCondition({ provider, device, condition, asked, now }: Asking): TrueAnswer | undefined {
  const at = now.getTime();
  switch (condition.kind) {
    case 'healthy':
      return undefined;
    case 'limited':
    case 'throttled': {
      const isNow = (at - condition.phase + limitPeriod) % limitPeriod < limitLasts;
      return isNow ? aboutDevice({ provider, name: condition.name, device }) : undefined;
    }
    case 'sporadic': {
      const isNow = asked <= condition.refusals && at < condition.refusedUntil;
      return isNow ? aboutDevice({ provider, name: 'sporadic', device }) : undefined;
    }
    case 'malformed':
      return { ...aboutDevice({ provider, name: 'malformed', device }), isForEver: true };
    case 'outdated':
      return { ...aboutDevice({ provider, name: 'outdated-key', device }), isForEver: true };
    case 'foreign':
      // The answer of a credential of the wrong environment, for one token that is of another.
      return { ...aboutDevice({ provider, name: 'wrong-environment', device }), isForEver: true };
    case 'unresolved':
      return { ...unreached(`getaddrinfo ENOTFOUND ${device}.dead.example`), about: 'device', isForEver: true };
    case 'dead':
      return dead(provider, now);
  }
}
