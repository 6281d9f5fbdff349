import { createHash, randomBytes } from 'node:crypto';
import type { FieldAnswerName } from '../../domain/sandbox/faults.ts';
import { magicOutcome } from '../../domain/sandbox/magic-tokens.ts';
import { shownHeaders } from '../../domain/sandbox/refusals.ts';
import type { RefusalRule } from '../../domain/sandbox/refusals.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { own, screenOfAndroid } from '../simulator/android-phone.ts';
import { refusedBy } from '../simulator/simulator.ts';
import type {
  GivenAnswer,
  ProviderSimulator,
  Simulate,
  SimulatedAnswer,
  SimulatedRequest,
  SimulatedWorkspace,
} from '../simulator/simulator.ts';

const tokenPath = '/auth/O2/token';

/** What Amazon knows of a security profile. `secretDigest`: the SHA-256 digest of the secret, hexadecimal. */
export type AdmAccount = { clientId: string; secretDigest: string };

type Account = SimulatedWorkspace & { adm?: AdmAccount };

export const admSimulator: ProviderSimulator = {
  make: makeSimulateAdm,
  tokenPath,
  findDevice: ({ path }) => findDevice(path),
  fieldAnswer,
};

const tokenSeconds = 3600;
const maxTokens = 1_000;

type Tokens = Map<string, { clientId: string; expiresAt: number }>;

/** Simulates Amazon's two services as far as a sender can see them: OAuth client credentials, and messages to registrations. */
export function makeSimulateAdm(accounts: () => Account[]): Simulate {
  const tokens: Tokens = new Map();
  return (request) => {
    const answer =
      request.path === tokenPath ? issueToken(accounts(), tokens, request) : send(accounts(), tokens, request);
    if (answer === 'silence') return answer;
    return { ...answer, headers: { 'x-amzn-requestid': randomBytes(16).toString('hex'), ...answer.headers } };
  };
}

function issueToken(accounts: Account[], tokens: Tokens, request: SimulatedRequest): SimulatedAnswer {
  const refuse = (error: string, description: string): SimulatedAnswer => ({
    status: 400,
    body: { error, error_description: description },
    rule: 'credentials',
  });
  const form = new URLSearchParams(request.body.toString('utf8'));
  if (form.get('grant_type') !== 'client_credentials')
    return refuse('unsupported_grant_type', 'The authorization grant type is not supported');
  if (form.get('scope') !== 'messaging:push') return refuse('invalid_scope', 'The scope is not messaging:push');
  const digest = createHash('sha256')
    .update(form.get('client_secret') ?? '')
    .digest('hex');
  const clientId = form.get('client_id');
  const account = accounts.find(({ adm }) => adm?.clientId === clientId && adm?.secretDigest === digest);
  if (!account?.adm) return refuse('invalid_client', 'Client authentication failed');
  const token = `Atc|${randomBytes(24).toString('base64url')}`;
  tokens.set(token, { clientId: account.adm.clientId, expiresAt: request.now.getTime() + tokenSeconds * 1000 });
  if (tokens.size > maxTokens) tokens.delete(tokens.keys().next().value!);
  const grant = { access_token: token, expires_in: tokenSeconds, scope: 'messaging:push', token_type: 'bearer' };
  return { status: 200, body: grant };
}

const wantedHeaders = {
  'content-type': /^application\/json/,
  'x-amzn-type-version': /^com\.amazon\.device\.messaging\.ADMMessage@1\.0$/,
  'x-amzn-accept-type': /^com\.amazon\.device\.messaging\.ADMSendResult@1\.0$/,
};

function send(accounts: Account[], tokens: Tokens, request: SimulatedRequest): SimulatedAnswer {
  const registrationId = findDevice(request.path);
  if (registrationId === undefined || request.method !== 'POST') return { status: 404, rule: 'route' };
  const bearer = /^Bearer (\S+)$/.exec(String(request.headers.authorization ?? ''))?.[1];
  const granted = bearer === undefined ? undefined : tokens.get(bearer);
  const account = accounts.find(({ adm }) => adm !== undefined && adm.clientId === granted?.clientId);
  if (!granted || !account || granted.expiresAt <= request.now.getTime())
    return refuse(401, 'AccessTokenExpired', 'credentials');
  for (const [name, form] of Object.entries(wantedHeaders))
    if (!form.test(String(request.headers[name] ?? ''))) return refuse(400, 'InvalidType', 'headers');
  return deliver(account, request, registrationId);
}

type Members = Record<string, unknown>;

function deliver(account: Account, request: SimulatedRequest, registrationId: string): SimulatedAnswer {
  let body: Members;
  try {
    body = JSON.parse(request.body.toString('utf8')) as Members;
  } catch {
    return refuse(400, 'InvalidData', 'payload');
  }
  const reason = findAdmViolation(body);
  if (reason !== undefined) return refuse(reason === 'MessageTooLarge' ? 413 : 400, reason, 'payload');
  const refused = refusedBy('magic address', magicAnswer(registrationId));
  if (refused) return refused;
  const { data = {}, notification } = body as { data?: Members; notification?: Members };
  const screen = screenOfAndroid({ data, notification });
  const { consolidationKey, expiresAfter, priority } = body;
  return {
    status: 200,
    body: { registrationID: currentIdOf(registrationId) },
    delivered: {
      workspaceId: account.workspaceId,
      platform: 'ANDROID',
      deviceToken: registrationId,
      title: screen.title,
      body: screen.body,
      // Prevents a repeat from being shown a second time.
      collapseId: String(notification?.tag ?? own(data, 'tag') ?? consolidationKey ?? ''),
      ...(typeof data.gcm_campaign_id === 'string' ? { campaignId: data.gcm_campaign_id } : {}),
      messageId: own(data, 'message_id') ?? randomBytes(16).toString('hex'),
      receivedAt: request.shownAt,
      transport: Object.fromEntries(
        Object.entries({ consolidationKey, expiresAfter, priority }).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, String(value)]],
        ),
      ),
      headers: shownHeaders(request.headers),
      payload: body,
      screen,
    },
  };
}

/**
 * Beginning of a registration id that was replaced. Amazon then delivers the message and names the new id in its response,
 * which the sender must use from now on.
 */
const replaced = 'replaced-';

function currentIdOf(registrationId: string): string {
  return registrationId.startsWith(replaced) ? registrationId.slice(replaced.length) : registrationId;
}

const maxBytes = 6 * 1024;
const maxKeyCharacters = 64;
const [minExpirySeconds, maxExpirySeconds] = [60, 2_678_400];
const isMember = new Set(['data', 'notification', 'consolidationKey', 'expiresAfter', 'priority', 'md5']);

const isShown = new Set([
  ...['title', 'body', 'icon', 'color', 'sound', 'tag', 'click_action', 'channel_id', 'image', 'ticker', 'sticky'],
  ...['title_loc_key', 'title_loc_args', 'body_loc_key', 'body_loc_args', 'event_time', 'local_only', 'visibility'],
  ...['notification_priority', 'notification_count', 'default_sound'],
]);

/** Returns the reason for which Amazon rejects a message. */
export function findAdmViolation(body: unknown): string | undefined {
  if (!isObject(body) || Object.keys(body).some((name) => !isMember.has(name))) return 'InvalidData';
  const { data, notification, consolidationKey: key, expiresAfter, priority, md5 } = body;
  if (data === undefined && notification === undefined) return 'InvalidData';
  if (!isObject(data ?? {}) || !isObject(notification ?? {})) return 'InvalidData';
  if (Object.keys(notification ?? {}).some((name) => !isShown.has(name))) return 'InvalidData';
  const texts = Object.entries((data ?? {}) as Members);
  if (texts.some(([, value]) => typeof value !== 'string')) return 'InvalidData';
  if (priority !== undefined && priority !== 'high' && priority !== 'normal') return 'InvalidData';
  if (key !== undefined && (typeof key !== 'string' || key.length > maxKeyCharacters)) return 'InvalidConsolidationKey';
  const seconds = expiresAfter ?? minExpirySeconds;
  if (!Number.isInteger(seconds) || (seconds as number) < minExpirySeconds || (seconds as number) > maxExpirySeconds)
    return 'InvalidExpiration';
  if (md5 !== undefined && md5 !== checksumOf(texts as [string, string][])) return 'InvalidChecksum';
  const bytes = [...texts, ...Object.entries((notification ?? {}) as Members)].reduce((sum, [name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return sum + Buffer.byteLength(name) + Buffer.byteLength(text);
  }, 0);
  return bytes > maxBytes ? 'MessageTooLarge' : undefined;
}

function isObject(value: unknown): value is Members {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** MD5 of `name:value` pairs in the order of their names, with commas between them, in Base64. */
function checksumOf(pairs: readonly [string, string][]): string {
  const text = pairs
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}:${value}`)
    .join(',');
  return createHash('md5').update(text).digest('base64');
}

function findDevice(path: string): string | undefined {
  const id = /^\/messaging\/registrations\/([^/]+)\/messages$/.exec(path)?.[1];
  try {
    return id === undefined ? undefined : decodeURIComponent(id);
  } catch {
    return undefined;
  }
}

function refuse(status: number, reason: string, rule: RefusalRule): GivenAnswer {
  return { status, body: { reason }, rule };
}

function magicAnswer(registrationId: string): SimulatedAnswer | undefined {
  const outcome = magicOutcome('adm', registrationId);
  switch (outcome) {
    case undefined:
      return undefined;
    case 'gone':
      return { status: 400, body: { reason: 'Unregistered' } };
    case 'invalid':
      return { status: 400, body: { reason: 'InvalidRegistrationId' } };
    case 'rejected':
      return { status: 413, body: { reason: 'MessageTooLarge' } };
    case 'busy':
      return { status: 503, headers: { 'retry-after': '1' } };
    case 'silent':
      return 'silence';
    default:
      return unknownCase(outcome);
  }
}

function fieldAnswer(name: FieldAnswerName<'adm'>): GivenAnswer {
  switch (name) {
    case 'limited':
      return { status: 429, body: { reason: 'MaxRateExceeded' } };
    case 'wrong-profile':
      return { status: 400, body: { reason: 'InvalidRegistrationId' } };
    default:
      return unknownCase(name);
  }
}
