import { createHash, randomBytes } from 'node:crypto';
import type { FieldAnswerName } from '../../domain/sandbox/faults.ts';
import { magicOutcome } from '../../domain/sandbox/magic-tokens.ts';
import { shownHeaders } from '../../domain/sandbox/refusals.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { own, screenOfAndroid } from '../simulator/android-phone.ts';
import { findDeviceInBody, refusedBy, transportOf } from '../simulator/simulator.ts';
import type {
  GivenAnswer,
  ProviderSimulator,
  Simulate,
  SimulatedAnswer,
  SimulatedRequest,
  SimulatedWorkspace,
} from '../simulator/simulator.ts';
import { hmsAnswer, findHmsViolation } from './simulator-rules.ts';
import type { HmsMessage } from './simulator-rules.ts';

const hmsTokenPath = '/oauth2/v3/token';
/** What Huawei knows of an OAuth client. `secretDigest`: the SHA-256 digest of the secret, hexadecimal. */
export type HmsAccount = {
  clientId: string;
  secretDigest: string;
  owner: { kind: 'project' | 'app'; id: string };
};

type Account = SimulatedWorkspace & { hms?: HmsAccount };

export const hmsSimulator: ProviderSimulator = {
  make: makeSimulateHms,
  tokenPath: hmsTokenPath,
  findDevice: findDeviceInBody,
  fieldAnswer,
};

const tokenSeconds = 3600;
const maxTokens = 1_000;

type Tokens = Map<string, { clientId: string; expiresAt: number }>;

/**
 * Simulates Huawei's two services as far as a sender can see them: OAuth client credentials, and `messages:send` of Push Kit.
 */
export function makeSimulateHms(accounts: () => Account[]): Simulate {
  const tokens: Tokens = new Map();
  return (request) =>
    request.path === hmsTokenPath ? issueToken(accounts(), tokens, request) : send(accounts(), tokens, request);
}

function issueToken(accounts: Account[], tokens: Tokens, request: SimulatedRequest): SimulatedAnswer {
  const refuse = (error: number, description: string): SimulatedAnswer => ({
    status: 400,
    body: { error, sub_error: 20_001, error_description: description },
    rule: 'credentials',
  });
  const form = new URLSearchParams(request.body.toString('utf8'));
  if (form.get('grant_type') !== 'client_credentials') return refuse(1101, 'invalid grant_type');
  const digest = createHash('sha256')
    .update(form.get('client_secret') ?? '')
    .digest('hex');
  const clientId = form.get('client_id');
  const account = accounts.find(({ hms }) => hms?.clientId === clientId && hms?.secretDigest === digest);
  if (!account?.hms) return refuse(1101, 'invalid client_id or client_secret');
  const token = `simulated-${randomBytes(24).toString('base64url')}`;
  tokens.set(token, { clientId: account.hms.clientId, expiresAt: request.now.getTime() + tokenSeconds * 1000 });
  if (tokens.size > maxTokens) tokens.delete(tokens.keys().next().value!);
  return { status: 200, body: { access_token: token, expires_in: tokenSeconds, token_type: 'Bearer' } };
}

const ownersByVersion = { v1: 'app', v2: 'project' } as const;

function send(accounts: Account[], tokens: Tokens, request: SimulatedRequest): SimulatedAnswer {
  const path = /^\/(v1|v2)\/([^/]+)\/messages:send$/.exec(request.path);
  if (!path || request.method !== 'POST') return refusedBy('route', { status: 404, body: 'no such interface' });
  const bearer = /^Bearer (\S+)$/.exec(String(request.headers.authorization ?? ''))?.[1];
  const granted = bearer === undefined ? undefined : tokens.get(bearer);
  if (!granted) return refusedBy('credentials', hmsAnswer(401, '80200001', 'OAuth authentication error.'));
  if (granted.expiresAt <= request.now.getTime())
    return refusedBy('credentials', hmsAnswer(200, '80200003', 'The access token is expired.'));
  const kind = ownersByVersion[path[1] as 'v1' | 'v2'];
  const account = accounts.find(
    ({ hms }) => hms?.clientId === granted.clientId && hms.owner.kind === kind && hms.owner.id === path[2],
  );
  if (!account)
    return refusedBy(
      'credentials',
      hmsAnswer(200, '80300002', 'The app does not have the permission to send messages.'),
    );
  return deliver(account, request);
}

function deliver(account: Account, request: SimulatedRequest): SimulatedAnswer {
  let message: HmsMessage | undefined;
  let isValidationOnly = false;
  try {
    const body = JSON.parse(request.body.toString('utf8')) as Record<string, unknown>;
    const unknown = Object.keys(body).find((name) => name !== 'validate_only' && name !== 'message');
    if (unknown !== undefined) return refusedBy('payload', hmsAnswer(400, '80100003', `${unknown} is not known`));
    message = body.message as HmsMessage | undefined;
    isValidationOnly = body.validate_only === true;
  } catch {
    return refusedBy('payload', hmsAnswer(400, '80100003', 'The message is not JSON.'));
  }
  const tokens = Array.isArray(message?.token) ? message.token.map(String) : [];
  const tokenBytes = tokens.reduce((sum, token) => sum + Buffer.byteLength(token), 0);
  const violation = findHmsViolation(message, request.body.length - tokenBytes);
  if (violation) return refusedBy('payload', hmsAnswer(400, violation.code, violation.msg));
  const [token] = tokens as [string];
  const answer = refusedBy('magic address', magicAnswer(token));
  if (answer) return answer;
  const requestId = `${request.now.getTime()}${randomBytes(8).toString('hex')}`;
  const success = { status: 200, body: { code: '80000000', msg: 'Success', requestId } };
  if (isValidationOnly) return success;
  const { data: text, android = {} } = message!;
  const data = readTexts(text);
  const screen = screenOfAndroid({ data, notification: android.notification });
  return {
    ...success,
    delivered: {
      workspaceId: account.workspaceId,
      platform: 'ANDROID',
      deviceToken: token,
      title: screen.title,
      body: screen.body,
      // Prevents a repeat from being shown a second time.
      collapseId: String(android.notification?.tag ?? own(data, 'tag') ?? ''),
      ...(typeof android.bi_tag === 'string' ? { campaignId: android.bi_tag } : {}),
      messageId: own(data, 'message_id') ?? requestId,
      receivedAt: request.shownAt,
      transport: transportOf(android, ['urgency', 'ttl', 'collapse_key', 'category']),
      headers: shownHeaders(request.headers),
      payload: { data: text ?? null, android },
      screen,
    },
  };
}

/** Parses data as JSON, as an app does. */
function readTexts(text: unknown): Record<string, unknown> {
  try {
    return typeof text === 'string' ? (JSON.parse(text) as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function magicAnswer(token: string): SimulatedAnswer | undefined {
  const outcome = magicOutcome('hms', token);
  switch (outcome) {
    case undefined:
      return undefined;
    case 'gone':
      return hmsAnswer(200, '80300007', 'All tokens are invalid.');
    case 'invalid':
      return hmsAnswer(200, '80100000', 'Some tokens are right, the others are illegal.');
    case 'rejected':
      return hmsAnswer(200, '80300008', 'The message body size exceeds the default value.');
    case 'busy':
      return { status: 503, body: 'Traffic control.', headers: { 'retry-after': '1' } };
    case 'limited':
      return fieldAnswer(outcome);
    case 'silent':
      return 'silence';
    default:
      return unknownCase(outcome);
  }
}

function fieldAnswer(name: FieldAnswerName<'hms'>): GivenAnswer {
  switch (name) {
    case 'limited':
      return hmsAnswer(200, '80300011', 'The number of messages sent to the token exceeds the upper limit.');
    case 'wrong-app':
      return hmsAnswer(200, '80300007', 'All tokens are invalid.');
    default:
      return unknownCase(name);
  }
}
