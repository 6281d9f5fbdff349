import { createPublicKey, randomUUID, verify } from 'node:crypto';
import type { FieldAnswerName } from '../../domain/sandbox/faults.ts';
import { magicOutcome } from '../../domain/sandbox/magic-tokens.ts';
import { shownHeaders } from '../../domain/sandbox/refusals.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { appPartOf, checkApnsContent, screenOfIphone } from '../simulator/iphone.ts';
import type { ApnsPayload } from '../simulator/iphone.ts';
import { findDeviceInPath, refusedBy, transportOf } from '../simulator/simulator.ts';
import type {
  GivenAnswer,
  ProviderSimulator,
  Simulate,
  SimulatedAnswer,
  SimulatedRequest,
  SimulatedWorkspace,
} from '../simulator/simulator.ts';

const transportHeaders = ['apns-topic', 'apns-push-type', 'apns-priority', 'apns-expiration', 'apns-collapse-id'];
const maxPayloadBytes = 4096;
const maxTokens = 1_000;
const pushTypes = new Set([
  'alert',
  'background',
  'location',
  'voip',
  'complication',
  'fileprovider',
  'mdm',
  'liveactivity',
]);

/** What Apple knows of a provider key. */
export type ApnsAccount = { teamId: string; keyId: string; topics: string[]; publicKeyPem: string };

type Account = SimulatedWorkspace & { apns?: ApnsAccount };

export const apnsSimulator: ProviderSimulator = {
  make: makeSimulateApns,
  findDevice: findDeviceInPath,
  fieldAnswer,
};

/** Simulates Apple's push service as far as a sender can see it: provider token, headers, payload, device token. */
export function makeSimulateApns(accounts: () => Account[]): Simulate {
  // Verified tokens, so that each signature is checked once, not for every message.
  const verified = new Map<string, { workspaceId: string; issuedAt: number }>();
  return (request) => {
    const token = /^\/3\/device\/([^/]+)$/.exec(request.path)?.[1];
    if (token === undefined) return refusedBy('route', reason(404, 'BadPath'));
    if (request.method !== 'POST') return refusedBy('route', reason(405, 'MethodNotAllowed'));
    const account = authenticate(accounts(), verified, request);
    if ('status' in account) return refusedBy('credentials', account);
    const refusal =
      refusedBy('headers', checkHeaders(account, request)) ??
      refusedBy('payload', checkPayload(request)) ??
      checkToken(token, request);
    return refusal ?? deliver(account, token, request);
  };
}

function reason(
  status: number,
  text: string,
  more: { headers?: Record<string, string>; timestamp?: number } = {},
): SimulatedAnswer & object {
  const { headers, timestamp } = more;
  return {
    status,
    ...(headers ? { headers } : {}),
    body: { reason: text, ...(timestamp === undefined ? {} : { timestamp }) },
  };
}

type Refusal = Exclude<SimulatedAnswer, 'silence'>;

function authenticate(
  accounts: Account[],
  verified: Map<string, { workspaceId: string; issuedAt: number }>,
  request: SimulatedRequest,
): Account | Refusal {
  const token = /^bearer (\S+)$/i.exec(String(request.headers.authorization ?? ''))?.[1];
  if (token === undefined) return reason(403, 'MissingProviderToken');
  let known = verified.get(token);
  if (!known) {
    known = verifyToken(accounts, token);
    if (!known) return reason(403, 'InvalidProviderToken');
    verified.set(token, known);
    if (verified.size > maxTokens) verified.delete(verified.keys().next().value!);
  }
  const age = request.now.getTime() / 1000 - known.issuedAt;
  // Apple rejects tokens over an hour old. A token slightly in the future is a clock error.
  if (age > 3600) return reason(403, 'ExpiredProviderToken');
  if (age < -60) return reason(403, 'InvalidProviderToken');
  const { workspaceId } = known;
  return accounts.find((account) => account.workspaceId === workspaceId) ?? reason(403, 'InvalidProviderToken');
}

function verifyToken(accounts: Account[], token: string): { workspaceId: string; issuedAt: number } | undefined {
  try {
    const [head, claims, signature] = token.split('.') as [string, string, string];
    const { alg, kid } = JSON.parse(Buffer.from(head, 'base64url').toString('utf8')) as { alg: string; kid: string };
    const { iss, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as { iss: string; iat: number };
    const account = accounts.find(({ apns }) => apns && apns.teamId === iss && apns.keyId === kid);
    if (alg !== 'ES256' || !account?.apns || typeof iat !== 'number') return undefined;
    const key = createPublicKey(account.apns.publicKeyPem);
    const isValid = verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      { key, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    return isValid ? { workspaceId: account.workspaceId, issuedAt: iat } : undefined;
  } catch {
    return undefined;
  }
}

function checkHeaders(account: Account, { headers }: SimulatedRequest): Refusal | undefined {
  if (headers['apns-topic'] === undefined) return reason(400, 'MissingTopic');
  const isLive = headers['apns-push-type'] === 'liveactivity';
  const topic = String(headers['apns-topic']);
  const bundleId = isLive && topic.endsWith(liveTopicSuffix) ? topic.slice(0, -liveTopicSuffix.length) : topic;
  if (!account.apns!.topics.includes(bundleId)) return reason(400, 'DeviceTokenNotForTopic');
  if (!pushTypes.has(String(headers['apns-push-type']))) return reason(400, 'InvalidPushType');
  if (headers['apns-priority'] !== undefined && !['1', '5', '10'].includes(String(headers['apns-priority'])))
    return reason(400, 'BadPriority');
  if (headers['apns-expiration'] !== undefined && !/^\d+$/.test(String(headers['apns-expiration'])))
    return reason(400, 'BadExpirationDate');
  if (Buffer.byteLength(String(headers['apns-collapse-id'] ?? '')) > 64) return reason(400, 'BadCollapseId');
  const id = headers['apns-id'];
  if (id !== undefined && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(String(id)))
    return reason(400, 'BadMessageId');
  return undefined;
}

function checkPayload({ body, headers }: SimulatedRequest): Refusal | undefined {
  if (body.length === 0) return reason(400, 'PayloadEmpty');
  if (body.length > maxPayloadBytes) return reason(413, 'PayloadTooLarge');
  try {
    const payload = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
    const { aps } = payload;
    if (aps === null || typeof aps !== 'object') return reason(400, 'BadMessage');
    const isLive = headers['apns-push-type'] === 'liveactivity';
    const fault = isLive ? checkLiveActivity(payload, headers) : checkApnsContent(aps as ApnsPayload['aps'], headers);
    return fault === undefined ? undefined : reason(400, fault);
  } catch {
    return reason(400, 'BadMessage');
  }
}

function checkToken(token: string, request: SimulatedRequest): SimulatedAnswer | undefined {
  if (!/^[0-9a-f]{64,200}$/.test(token)) return refusedBy('device address', reason(400, 'BadDeviceToken'));
  return refusedBy('magic address', magicAnswer(token, request));
}

function magicAnswer(token: string, request: SimulatedRequest): SimulatedAnswer | undefined {
  const outcome = magicOutcome('apns', token);
  switch (outcome) {
    case undefined:
      return undefined;
    case 'gone':
      return reason(410, 'Unregistered', { timestamp: request.now.getTime() });
    case 'invalid':
      return reason(400, 'BadDeviceToken');
    case 'rejected':
      return reason(413, 'PayloadTooLarge');
    case 'busy':
      return reason(429, 'TooManyRequests', { headers: { 'retry-after': '1' } });
    case 'silent':
      return 'silence';
    default:
      return unknownCase(outcome);
  }
}

function fieldAnswer(name: FieldAnswerName<'apns'>): GivenAnswer {
  switch (name) {
    case 'wrong-environment':
      return { status: 400, body: { reason: 'BadDeviceToken' } };
    case 'wrong-topic':
      return { status: 400, body: { reason: 'DeviceTokenNotForTopic' } };
    default:
      return unknownCase(name);
  }
}

function deliver(account: Account, deviceToken: string, request: SimulatedRequest): SimulatedAnswer {
  const payload = JSON.parse(request.body.toString('utf8')) as ApnsPayload;
  const own = appPartOf(payload);
  const screen = screenOfIphone(payload);
  // Apple creates an id for a notification without one.
  const id = String(request.headers['apns-id'] ?? randomUUID());
  return {
    status: 200,
    headers: { 'apns-id': id },
    delivered: {
      workspaceId: account.workspaceId,
      platform: 'IOS',
      deviceToken,
      title: screen.title,
      body: screen.body,
      collapseId: String(request.headers['apns-collapse-id'] ?? ''),
      ...(own?.campaign_id === undefined ? {} : { campaignId: own.campaign_id }),
      messageId: own?.message_id ?? id,
      receivedAt: request.shownAt,
      transport: transportOf(request.headers, transportHeaders),
      headers: shownHeaders(request.headers),
      payload: payload as unknown as Record<string, unknown>,
      screen,
    },
  };
}

/** Apple's suffix after the bundle id for a push to a Live Activity. */
const liveTopicSuffix = '.push-type.liveactivity';

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string' && value !== '';
const isSeconds: Check = (value) => Number.isInteger(value) && (value as number) > 0 && (value as number) < 1e11;
const isObject: Check = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const isAlert: Check = (value) => {
  if (!isObject(value)) return false;
  const { title, body, ...rest } = value as Record<string, unknown>;
  return isText(title) && isText(body) && Object.keys(rest).length === 0;
};

/** Members of `aps` in a push to a Live Activity. A phone does not report what is wrong; a simulator can. */
const members: Record<string, Check> = {
  timestamp: isSeconds,
  event: (value) => ['start', 'update', 'end'].includes(value as string),
  'content-state': isObject,
  'attributes-type': isText,
  attributes: isObject,
  alert: isAlert,
  'stale-date': isSeconds,
  'dismissal-date': isSeconds,
};
const required = ['timestamp', 'event', 'content-state'];
const requiredOfStart = ['attributes-type', 'attributes', 'alert'];

/** Returns the reason why Apple rejects a push, or why its phones drop it. */
export function checkLiveActivity(
  payload: Record<string, unknown>,
  headers: Record<string, string | string[] | undefined>,
): string | undefined {
  const { aps, ...others } = payload as { aps: Record<string, unknown> };
  if (!String(headers['apns-topic']).endsWith(liveTopicSuffix)) return 'BadTopic';
  if (!['5', '10'].includes(String(headers['apns-priority'] ?? '10'))) return 'BadPriority';
  if (headers['apns-collapse-id'] !== undefined) return 'BadCollapseId';
  const isStart = aps.event === 'start';
  const needed = isStart ? [...required, ...requiredOfStart] : required;
  const refused = isStart ? [] : ['attributes-type', 'attributes'];
  const isRight =
    Object.keys(others).length === 0 &&
    needed.every((name) => aps[name] !== undefined) &&
    refused.every((name) => aps[name] === undefined) &&
    Object.entries(aps).every(([name, value]) => Object.hasOwn(members, name) && members[name]!(value));
  return isRight ? undefined : 'BadMessage';
}
