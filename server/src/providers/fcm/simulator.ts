import { createPublicKey, randomBytes } from 'node:crypto';
import { magicOutcome } from '../../domain/sandbox/magic-tokens.ts';
import { shownHeaders } from '../../domain/sandbox/refusals.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { own, screenOfAndroid } from '../simulator/android-phone.ts';
import { screenOfBrowser } from '../simulator/browser.ts';
import { appPartOf, screenOfIphone } from '../simulator/iphone.ts';
import { findDeviceInBody, refusedBy, transportOf } from '../simulator/simulator.ts';
import type {
  DeliveredMessage,
  ProviderSimulator,
  Simulate,
  SimulatedAnswer,
  SimulatedRequest,
  SimulatedWorkspace,
} from '../simulator/simulator.ts';
import { fcmFieldAnswer } from './field-answers.ts';
import { fcmError, googleError, findFcmViolation, readBrowserPayload } from './simulator-rules.ts';
import type { FcmMessage, FcmApns, FcmWebPush } from './simulator-rules.ts';

const googleTokenUrl = 'https://oauth2.googleapis.com/token';
const messagingScope = 'https://www.googleapis.com/auth/firebase.messaging';
const tokenSeconds = 3600;
const maxTokens = 1_000;

/** The data that Google has about a service account. */
export type FcmAccount = { projectId: string; clientEmail: string; publicKeyPem: string };

type Account = SimulatedWorkspace & { fcm?: FcmAccount };

export const fcmSimulator: ProviderSimulator = {
  make: makeSimulateFcm,
  tokenPath: '/token',
  findDevice: findDeviceInBody,
  fieldAnswer: fcmFieldAnswer,
};

/** Simulates Google's two services as far as a sender can see them: the token endpoint and `messages:send` of FCM HTTP v1. */
export function makeSimulateFcm(accounts: () => Account[]): Simulate {
  const tokens = new Map<string, { workspaceId: string; expiresAt: number }>();
  const magic = makeMagicAnswers();
  return (request) =>
    request.path === '/token'
      ? issueToken(accounts(), tokens, request)
      : send({ accounts: accounts(), tokens, magic }, request);
}

type Tokens = Map<string, { workspaceId: string; expiresAt: number }>;

async function issueToken(accounts: Account[], tokens: Tokens, request: SimulatedRequest): Promise<SimulatedAnswer> {
  const refuse = (description: string): SimulatedAnswer => ({
    status: 400,
    body: { error: 'invalid_grant', error_description: description },
    rule: 'credentials',
  });
  const form = new URLSearchParams(request.body.toString('utf8'));
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    return { status: 400, body: { error: 'unsupported_grant_type' }, rule: 'credentials' };
  const assertion = form.get('assertion') ?? '';
  const issuer = readIssuer(assertion);
  const account = accounts.find((candidate) => candidate.fcm && candidate.fcm.clientEmail === issuer);
  if (!account?.fcm) return refuse('Invalid grant: account not found');
  const { jwtVerify } = await import('jose');
  try {
    const { payload } = await jwtVerify(assertion, createPublicKey(account.fcm.publicKeyPem), {
      algorithms: ['RS256'],
      // A client that calls the simulator directly also names it as the token service.
      audience: [googleTokenUrl, `http://${String(request.headers[':authority'])}/token`],
      currentDate: request.now,
      maxTokenAge: tokenSeconds,
      clockTolerance: 5,
    });
    if (payload.scope !== messagingScope) return refuse('Invalid OAuth scope');
  } catch (error) {
    return refuse(`Invalid JWT: ${(error as Error).message}`);
  }
  const token = `ya29.simulated-${randomBytes(24).toString('base64url')}`;
  tokens.set(token, { workspaceId: account.workspaceId, expiresAt: request.now.getTime() + tokenSeconds * 1000 });
  if (tokens.size > maxTokens) tokens.delete(tokens.keys().next().value!);
  return { status: 200, body: { access_token: token, expires_in: tokenSeconds - 1, token_type: 'Bearer' } };
}

function readIssuer(assertion: string): string | undefined {
  try {
    return (JSON.parse(Buffer.from(assertion.split('.')[1]!, 'base64url').toString('utf8')) as { iss?: string }).iss;
  } catch {
    return undefined;
  }
}

type Known = { accounts: Account[]; tokens: Tokens; magic: MagicAnswers };

function send({ accounts, tokens, magic }: Known, request: SimulatedRequest): SimulatedAnswer {
  const path = /^\/v1\/projects\/([^/]+)\/messages:send$/.exec(request.path);
  if (!path || request.method !== 'POST')
    return refusedBy('route', googleError(404, 'NOT_FOUND', 'Requested entity was not found.'));
  const bearer = /^Bearer (\S+)$/.exec(String(request.headers.authorization ?? ''))?.[1];
  const granted = bearer === undefined ? undefined : tokens.get(bearer);
  if (!granted || granted.expiresAt <= request.now.getTime()) {
    return refusedBy(
      'credentials',
      googleError(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.'),
    );
  }
  const account = accounts.find((candidate) => candidate.workspaceId === granted.workspaceId);
  if (!account?.fcm || account.fcm.projectId !== path[1]) {
    const message = `Permission 'cloudmessaging.messages.create' denied on resource projects/${path[1]}.`;
    return refusedBy('credentials', googleError(403, 'PERMISSION_DENIED', message));
  }
  return deliver({ account, magic }, request);
}

function deliver(
  { account, magic }: { account: Account; magic: MagicAnswers },
  request: SimulatedRequest,
): SimulatedAnswer {
  let message: FcmMessage | undefined;
  let isValidationOnly = false;
  try {
    const body = JSON.parse(request.body.toString('utf8')) as { message?: FcmMessage; validate_only?: unknown };
    message = body.message;
    isValidationOnly = body.validate_only === true;
  } catch {
    return refusedBy('payload', googleError(400, 'INVALID_ARGUMENT', 'Invalid JSON payload received.'));
  }
  const violation = findFcmViolation(message);
  if (violation) return refusedBy('payload', invalid(violation.field, violation.description));
  const { address, member } = addressOf(message!);
  const answer = refusedBy('magic address', magic(address, member));
  if (answer) return answer;
  const { projectId } = account.fcm!;
  if (isValidationOnly) return { status: 200, body: { name: `projects/${projectId}/messages/fake_message_id` } };
  const name = `projects/${projectId}/messages/0:${request.now.getTime()}%${randomBytes(8).toString('hex')}`;
  const received = receive(message!, name);
  return {
    status: 200,
    body: { name },
    delivered: {
      workspaceId: account.workspaceId,
      deviceToken: address,
      receivedAt: request.shownAt,
      headers: shownHeaders(request.headers),
      ...received,
    },
  };
}

type Received = Omit<DeliveredMessage, 'workspaceId' | 'deviceToken' | 'receivedAt' | 'headers'>;

/** A message to several platforms has a part for each, and a device reads only its own. Here the part determines the kind of device. */
function receive(message: FcmMessage, name: string): Received {
  if (message.apns) return receiveOnIphone(message.apns, name);
  if (message.webpush) return receiveInBrowser(message.webpush, name);
  const { data = {}, android = {} } = message;
  const screen = screenOfAndroid({ data, notification: android.notification });
  return {
    platform: 'ANDROID',
    title: screen.title,
    body: screen.body,
    // A repeat with the same tag replaces the first message. If the app shows the message, the app sets the tag.
    collapseId: String(android.notification?.tag ?? own(data, 'tag') ?? android.collapse_key ?? ''),
    ...(typeof data.gcm_campaign_id === 'string' ? { campaignId: data.gcm_campaign_id } : {}),
    messageId: own(data, 'message_id') ?? name,
    transport: transportOf(android, ['priority', 'ttl', 'collapse_key', 'restricted_package_name']),
    payload: { data, android },
    screen,
  };
}

function receiveOnIphone(apns: FcmApns, name: string): Received {
  const { headers = {}, payload = { aps: {} } } = apns;
  const screen = screenOfIphone(payload);
  const ours = appPartOf(payload);
  return {
    platform: 'IOS',
    title: screen.title,
    body: screen.body,
    collapseId: headers['apns-collapse-id'] ?? '',
    ...(ours?.campaign_id === undefined ? {} : { campaignId: ours.campaign_id }),
    messageId: ours?.message_id ?? name,
    transport: transportOf(headers, ['apns-push-type', 'apns-priority', 'apns-expiration', 'apns-collapse-id']),
    payload: { apns },
    screen,
  };
}

function receiveInBrowser(webpush: FcmWebPush, name: string): Received {
  const payload = readBrowserPayload(webpush);
  return {
    platform: 'WEB',
    title: String(payload.title ?? ''),
    body: String(payload.message ?? ''),
    collapseId: String(webpush.headers?.Topic ?? ''),
    ...(typeof payload.campaign_id === 'string' ? { campaignId: payload.campaign_id } : {}),
    messageId: typeof payload.message_id === 'string' ? payload.message_id : name,
    transport: Object.fromEntries(
      Object.entries(webpush.headers ?? {}).map(([header, value]) => [header, String(value)]),
    ),
    payload: { webpush },
    screen: screenOfBrowser(payload),
  };
}

function addressOf({ token, fid }: FcmMessage): { address: string; member: 'token' | 'fid' } {
  return fid === undefined ? { address: String(token), member: 'token' } : { address: String(fid), member: 'fid' };
}

type MagicAnswers = (address: string, member: 'token' | 'fid') => SimulatedAnswer | undefined;

const sporadicRefusals = 2;
// The maximum number of addresses that are counted. A developer uses only a few.
const maxSporadic = 10_000;

function makeMagicAnswers(): MagicAnswers {
  const refusals = new Map<string, number>();
  /** Refuses the first messages to an address. The count starts again when the simulator starts. */
  const sporadic = (address: string): SimulatedAnswer | undefined => {
    const before = refusals.get(address) ?? 0;
    if (before >= sporadicRefusals) return undefined;
    refusals.set(address, before + 1);
    if (refusals.size > maxSporadic) refusals.delete(refusals.keys().next().value!);
    return fcmFieldAnswer('sporadic', address);
  };
  return (address, member) =>
    magicOutcome('fcm', address) === 'sporadic' ? sporadic(address) : magicAnswer(address, member);
}

function magicAnswer(address: string, member: 'token' | 'fid'): SimulatedAnswer | undefined {
  const outcome = magicOutcome('fcm', address);
  switch (outcome) {
    case undefined:
      return undefined;
    case 'gone':
      return googleError(404, 'NOT_FOUND', 'Requested entity was not found.', [fcmError('UNREGISTERED')]);
    case 'invalid':
      return invalid(`message.${member}`, 'The registration token is not a valid FCM registration token.');
    case 'rejected':
      return invalid('message.android.notification', 'Refused on request.');
    case 'busy':
      return {
        ...googleError(503, 'UNAVAILABLE', 'The service is currently unavailable.'),
        headers: { 'retry-after': '1' },
      };
    case 'limited':
    case 'malformed':
    case 'sporadic':
      return fcmFieldAnswer(outcome, address);
    case 'silent':
      return 'silence';
    default:
      return unknownCase(outcome);
  }
}

function invalid(field: string, description: string): SimulatedAnswer {
  return googleError(400, 'INVALID_ARGUMENT', description, [
    fcmError('INVALID_ARGUMENT'),
    { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field, description }] },
  ]);
}
