import { createPublicKey, verify } from 'node:crypto';
import { simulatedPushOrigin } from '../../domain/delivery/push-services.ts';
import type { FieldAnswerName } from '../../domain/sandbox/faults.ts';
import { magicOutcome } from '../../domain/sandbox/magic-tokens.ts';
import { shownHeaders } from '../../domain/sandbox/refusals.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { findBrowserFault, screenOfBrowser } from '../simulator/browser.ts';
import { findDeviceInPath, refusedBy, transportOf } from '../simulator/simulator.ts';
import type {
  GivenAnswer,
  ProviderSimulator,
  Simulate,
  SimulatedAnswer,
  SimulatedRequest,
  SimulatedWorkspace,
} from '../simulator/simulator.ts';
import { decryptWebPush, simulatedBrowser } from './simulated-browser.ts';

const maxBodyBytes = 4096;
const maxTokens = 1_000;

/** The data that a push service has about a site. */
export type WebPushAccount = { publicKey: string };

type Account = SimulatedWorkspace & { webpush?: WebPushAccount };

export const webPushSimulator: ProviderSimulator = {
  make: makeSimulateWebPush,
  findDevice: findDeviceInPath,
  fieldAnswer,
};

/**
 * Simulates a push service and the browsers behind it: VAPID, headers, and the decryption a browser would do (RFC 8030,
 * RFC 8291, RFC 8292).
 */
export function makeSimulateWebPush(accounts: () => Account[], { secret }: { secret: Buffer }): Simulate {
  const verified = new Map<string, { workspaceId: string; expiresAt: number }>();
  return (request) => {
    const id = /^\/push\/([^/?]+)$/.exec(request.path)?.[1];
    if (id === undefined || request.method !== 'POST') return { status: 404, rule: 'route' };
    const sender = authenticate(accounts(), verified, request);
    if ('status' in sender) return refusedBy('credentials', sender);
    return (
      checkHeaders(request) ??
      refusedBy('magic address', magicAnswer(decodeURIComponent(id))) ??
      deliver(request, { id: decodeURIComponent(id), secret, ...sender })
    );
  };
}

type Refusal = Exclude<SimulatedAnswer, 'silence'>;
type Verified = Map<string, { workspaceId: string; expiresAt: number }>;

function authenticate(
  accounts: Account[],
  verified: Verified,
  request: SimulatedRequest,
): { workspaceId: string } | Refusal {
  const header = String(request.headers.authorization ?? '');
  if (header === '') return { status: 401, body: 'VAPID is required' };
  let known = verified.get(header);
  if (!known) {
    known = verifyVapid(accounts, header, request.now);
    if (!known) return { status: 403, body: 'VAPID is not valid' };
    verified.set(header, known);
    if (verified.size > maxTokens) verified.delete(verified.keys().next().value!);
  }
  return known.expiresAt > request.now.getTime() / 1000 ? known : { status: 403, body: 'VAPID has expired' };
}

function verifyVapid(
  accounts: Account[],
  header: string,
  now: Date,
): { workspaceId: string; expiresAt: number } | undefined {
  const fields = /^vapid t=([\w-]+\.[\w-]+\.[\w-]+), ?k=([\w-]+)$/.exec(header);
  if (!fields) return undefined;
  const [, token, publicKey] = fields as unknown as [string, string, string];
  const account = accounts.find(({ webpush }) => webpush?.publicKey === publicKey);
  if (!account) return undefined;
  try {
    const [head, claims, signature] = token.split('.') as [string, string, string];
    const { alg } = JSON.parse(Buffer.from(head, 'base64url').toString('utf8')) as { alg: string };
    const { aud, exp, sub } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as {
      aud: string;
      exp: number;
      sub?: string;
    };
    const point = Buffer.from(publicKey, 'base64url');
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
    const key = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x: x!, y: y! } });
    const isSigned = verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      { key, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    const isTimely = exp > now.getTime() / 1000 && exp <= now.getTime() / 1000 + 86_400;
    const isContact = sub === undefined || /^(mailto:|https:)/.test(sub);
    if (alg !== 'ES256' || !isSigned || aud !== simulatedPushOrigin || !isTimely || !isContact) return undefined;
    return { workspaceId: account.workspaceId, expiresAt: exp };
  } catch {
    return undefined;
  }
}

function checkHeaders({ headers, body }: SimulatedRequest): Refusal | undefined {
  if (!/^\d{1,8}$/.test(String(headers.ttl ?? ''))) return { status: 400, body: 'TTL is required', rule: 'headers' };
  if (headers['content-encoding'] !== 'aes128gcm')
    return { status: 400, body: 'aes128gcm is required', rule: 'headers' };
  if (headers.topic !== undefined && !/^[\w-]{1,32}$/.test(String(headers.topic)))
    return { status: 400, body: 'bad topic', rule: 'headers' };
  if (headers.urgency !== undefined && !['very-low', 'low', 'normal', 'high'].includes(String(headers.urgency)))
    return { status: 400, body: 'bad urgency', rule: 'headers' };
  if (body.length > maxBodyBytes) return { status: 413, rule: 'payload' };
  return undefined;
}

function fieldAnswer(name: FieldAnswerName<'webpush'>): GivenAnswer {
  switch (name) {
    case 'throttled':
      return {
        status: 406,
        headers: {
          'retry-after': '1',
          'x-wns-status': 'dropped',
          'x-wns-notificationstatus': 'channelThrottled',
        },
      };
    case 'outdated-key':
      return {
        status: 403,
        body: 'the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.',
      };
    case 'not-found':
      return {
        status: 404,
        headers: { 'content-type': 'text/html' },
        body: '<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>',
      };
    default:
      return unknownCase(name);
  }
}

function magicAnswer(id: string): SimulatedAnswer | undefined {
  const outcome = magicOutcome('webpush', id);
  switch (outcome) {
    case undefined:
      return undefined;
    case 'gone':
      return { status: 410 };
    case 'invalid':
      return { status: 404 };
    case 'rejected':
      return { status: 413 };
    case 'busy':
      return { status: 429, headers: { 'retry-after': '1' } };
    case 'throttled':
      return fieldAnswer(outcome);
    case 'outdated':
      return fieldAnswer('outdated-key');
    case 'silent':
      return 'silence';
    default:
      return unknownCase(outcome);
  }
}

type Delivery = { id: string; secret: Buffer; workspaceId: string };

function deliver(request: SimulatedRequest, { id, secret, workspaceId }: Delivery): SimulatedAnswer {
  let payload: Record<string, unknown>;
  try {
    payload = JSON.parse(decryptWebPush(request.body, simulatedBrowser({ secret, id })).toString('utf8')) as Record<
      string,
      unknown
    >;
  } catch {
    // A real push service cannot detect this, and the browser would drop the message silently. The simulator reports it.
    return { status: 400, body: 'the browser cannot decrypt this message', rule: 'payload' };
  }
  const fault = findBrowserFault(payload);
  if (fault !== undefined) return { status: 400, body: fault, rule: 'payload' };
  const messageId = String(payload.message_id ?? '');
  return {
    status: 201,
    headers: { location: `${simulatedPushOrigin}/message/${messageId}` },
    delivered: {
      workspaceId,
      platform: 'WEB',
      deviceToken: id,
      title: String(payload.title ?? ''),
      body: String(payload.message ?? ''),
      collapseId: String(request.headers.topic ?? ''),
      ...(typeof payload.campaign_id === 'string' ? { campaignId: payload.campaign_id } : {}),
      messageId,
      receivedAt: request.shownAt,
      transport: transportOf(request.headers, ['TTL', 'Urgency', 'Topic', 'Content-Encoding']),
      headers: shownHeaders(request.headers),
      payload,
      screen: screenOfBrowser(payload),
    },
  };
}
