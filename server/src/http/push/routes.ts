import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AcceptPush } from '../../app/push/accept-push.ts';
import type { AdmitPush } from '../../app/push/admit-push.ts';
import { platforms } from '../../domain/content/content.ts';
import type { AndroidPayload, Platform } from '../../domain/content/content.ts';
import { languagesOf, makeContentIn } from '../../domain/content/locales.ts';
import type { OwnContent } from '../../domain/content/texts.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxPushBodyBytes } from '../../domain/limits/push.ts';
import { writeTraceparent } from '../../domain/operations/tracing.ts';
import type { PushCommand } from '../../domain/push.ts';
import { isBearer, makeRequireBearer } from '../route/auth.ts';
import type { BearerDependencies } from '../route/auth.ts';
import { isBlank } from '../route/json-body.ts';
import { addRoutes, route, setRateLimitHeaders } from '../route/route.ts';
import type { Call, RouteDialect } from '../route/route.ts';
import type { VendorHeaders } from '../route/vendor-headers.ts';
import { addWarnings } from '../route/warnings.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { calledDataCenter, callerAddress } from '../server/call-origin.ts';
import {
  presentContentWarnings,
  presentAcceptedPush,
  presentPushError,
  pushErrors,
  identityHeaders,
  pushAnswer,
  pushFailure,
  pushFault,
  strongSignatureHeaders,
} from './answers.ts';
import { parsePush, pushBodyV2, pushBodyV21 } from './parse-push.ts';
import type { PushBody } from './parse-push.ts';

export type PushRouteDependencies = BearerDependencies & {
  admitPush: AdmitPush;
  acceptPush: AcceptPush;
  vendorHeaders: VendorHeaders;
  measure: MeasureContent;
};

/** POST /v2/transaction/sendpush and /v2.1/transaction/sendpush: two dialects of one command (interface 4.4, 4.5). */
export function pushRoutes(deps: PushRouteDependencies): RouteFamily {
  const dialect = makePushDialect(deps);
  return async (server) =>
    addRoutes(
      server,
      addresses.map(({ version, path, suffix }) => {
        const ofVersion = { ...deps, version };
        const { operationId, ...described } = versions[version];
        return route(dialect, {
          method: 'POST',
          url: `/${version}/transaction/sendpush${path}`,
          ...described,
          operationId: `${operationId}${suffix}`,
          summary: `Create and send a push campaign, ${version}`,
          maxBodyBytes: maxPushBodyBytes,
          config: { keptBody: withoutSignature },
          isRepeatable: true,
          answers: { 200: pushAnswer },
          answerHeaders: { 'X-*-Next-Sends': Type.String({ description: 'The next sends of a recurring campaign' }) },
          handle: (call) => sendPush(ofVersion, call),
        });
      }),
    );
}

const versions = {
  v2: { operationId: 'sendPushV2', description: 'appId and signature travel in the body.', body: pushBodyV2 },
  'v2.1': {
    operationId: 'sendPushV21',
    description: 'appId, signature and query type travel in headers.',
    headers: identityHeaders,
    body: pushBodyV21,
  },
};

type Version = keyof typeof versions;

/**
 * Clients with a separate lane for one-time passwords call the second; here pushes to users have the lane anyway. The version that
 * new code should use is documented first.
 */
const addresses = (['v2.1', 'v2'] as const).flatMap((version) => [
  { version, path: '', suffix: '' },
  { version, path: '/priority', suffix: 'Priority' },
]);

function makePushDialect(deps: PushRouteDependencies): RouteDialect {
  const requirePushScope = makeRequireBearer(deps)('push');
  return {
    tag: 'Push',
    // The gateway's scheme; the signature is the credential of the call.
    credentials: ['bearer'],
    areCredentialsOptional: true,
    headers: strongSignatureHeaders,
    refusals: { errors: pushErrors, shape: pushFailure, fault: pushFault },
    isLimited: true,
    vendorHeaders: deps.vendorHeaders,
    preHandler: [
      // A Bearer token is optional, but must be valid if it is sent (decision D16).
      async (request, reply) => {
        if (isBearer(request)) await requirePushScope(request, reply);
      },
    ],
    callerOf: () => ({}),
    presentError: (error, { reply }) => presentPushError(error, reply),
  };
}

type PushCall = Call & { warn: () => void };

async function sendPush(deps: PushRouteDependencies & { version: Version }, call: PushCall): Promise<unknown> {
  const { version } = deps;
  const { request, reply, body, once } = call;
  if (!isBlank(body.requestType) && text(body.requestType)?.toLowerCase() !== 'push')
    throw new ServiceError('PUSH_REQUEST_TYPE_INVALID');
  const identity =
    version === 'v2' ? { appId: text(body.appId), signature: text(body.signature) } : readHeaders(deps, request, body);
  const admitted = await deps.admitPush({
    ...identity,
    campaignName: text(body.campaignName),
    signatureV2: readSignatureV2(deps, request),
    rawBody: once.rawBody,
    audience: body.targetAudience,
    userAttributes: body.targetUserAttributes,
    isRepeatable: once.key !== undefined,
    dataCenter: calledDataCenter(request, deps.serviceDomain),
    bearerWorkspaceId: request.callerKey?.workspaceId,
    address: callerAddress(request),
    onWorkspaceFound: (workspaceId) => (request.facts.workspaceId = workspaceId),
    onVerified: (keyId) => (request.facts.keyId = keyId),
    onLimit: (state) => setRateLimitHeaders(reply, state),
  });
  if (admitted.workspace.pushBodies === 'strict') refuseLenientIdentity(body, version);
  const { vendorHeaders, clock } = deps;
  const sentType = vendorHeaders.read(request.headers, 'x-*-query-type')?.trim();
  const queryType = version === 'v2' ? undefined : { name: vendorHeaders.spell('X-SVC-Query-Type'), value: sentType };
  const { prefixes } = vendorHeaders;
  const command = parsePush(body, { admitted, now: clock.now(), queryType, prefixes });
  call.warn();
  const { id: workspaceId, androidPayload } = admitted.workspace;
  const warnings = [
    ...command.warnings,
    ...presentContentWarnings(command, { payload: androidPayload, apps: admitted.apps }),
    ...warnOfSizes(command, { measure: deps.measure, workspaceId, androidPayload }),
  ];
  addWarnings(vendorHeaders, { request, reply }, warnings);
  const { span } = request.facts;
  const traceparent = span?.context.isSampled ? writeTraceparent(span.context) : undefined;
  const { key: idempotencyKey, rawBody } = once;
  const accepted = await deps.acceptPush({ admitted, command, idempotencyKey, rawBody, traceparent });
  request.facts.campaignId = accepted.campaignId;
  span?.set({ 'carillon.campaign.id': accepted.campaignId });
  // The members of the response are those of interface 2.11, so the next sends are in a header.
  if (accepted.nextSends.length > 0)
    reply.header(vendorHeaders.nameOf('x-*-next-sends'), accepted.nextSends.join(', '));
  return presentAcceptedPush(accepted);
}

/**
 * For workspaces with strict bodies: checks the members that are read before the workspace, and thus its strictness, is
 * known.
 *
 * @throws ServiceError
 */
function refuseLenientIdentity(body: PushBody, version: Version): void {
  if (body.requestType !== undefined && body.requestType !== 'push')
    throw new ServiceError('PUSH_REQUEST_TYPE_INVALID');
  if (version === 'v2') return;
  if (body.appId !== undefined && isBlank(body.appId))
    throw new ServiceError('PUSH_APP_ID_INVALID', { detail: 'appId of the body differs from the header' });
  if (body.signature !== undefined && isBlank(body.signature))
    throw new ServiceError('PUSH_SIGNATURE_INVALID', { detail: 'signature of the body differs from the header' });
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Reads the headers of v2.1. The body may repeat them; a repeated value that differs is rejected (decision D34). */
function readHeaders(
  { vendorHeaders }: PushRouteDependencies,
  { headers }: FastifyRequest,
  body: PushBody,
): { appId: string | undefined; signature: string | undefined } {
  const appId = vendorHeaders.read(headers, 'x-*-appkey');
  const signature = vendorHeaders.read(headers, 'x-*-pushapi-signature');
  if (appId !== undefined && !isBlank(body.appId) && body.appId !== appId) {
    throw new ServiceError('PUSH_APP_ID_INVALID', { detail: 'appId of the body differs from the header' });
  }
  const differs = signature !== undefined && !isBlank(body.signature) && body.signature !== signature;
  // An unusable signature is reported in its place in the order of checks: after the name.
  return { appId, signature: differs ? 'differs from the body' : signature };
}

function readSignatureV2({ vendorHeaders }: PushRouteDependencies, { headers }: FastifyRequest) {
  const signature = vendorHeaders.read(headers, 'x-*-pushapi-signature-v2');
  if (signature === undefined) return undefined;
  return { signature, id: String(headers['webhook-id'] ?? ''), timestamp: String(headers['webhook-timestamp'] ?? '') };
}

/**
 * Removes the signature from a body, because it never expires (interface 5) and must not be in a log. This covers requests
 * that are rejected before their body is parsed, members and spellings that are never read, and text that is not JSON,
 * where the signature cannot be located.
 */
function withoutSignature({ body, rawBody }: FastifyRequest): string {
  if (body === undefined) return '';
  // A member name may contain escapes.
  if (!/signature|\\u/i.test(rawBody)) return rawBody;
  return JSON.stringify(body, (name, value: unknown) => (name.toLowerCase() === 'signature' ? '[redacted]' : value));
}

/** Returns the bytes that a content takes at a provider, the maximum it accepts, and the maximum that every browser accepts. */
export type MeasureContent = (
  shown: { workspaceId: string; androidPayload: AndroidPayload } & {
    [P in Platform]: { platform: P; content: OwnContent[P] };
  }[Platform],
) => { bytes: number; most: number; maxEverywhere: number };

type Measured = { measure: MeasureContent; workspaceId: string; androidPayload: AndroidPayload };

/**
 * Returns a warning for each content of a push that is too large, so that its devices would get nothing: the common
 * content, the fallback, and that of each language.
 */
export function warnOfSizes({ content }: Pick<PushCommand, 'content'>, { measure, ...workspace }: Measured): string[] {
  const contentIn = makeContentIn(content);
  return platforms.flatMap((platform) => {
    const given = content[platform];
    if (given === undefined) return [];
    const shown: [path: string, content: OwnContent[Platform]][] = [
      [`payload.${platform}`, contentIn(platform, undefined)],
      ...(given.fallback === undefined
        ? []
        : [[`payload.${platform}.fallback`, given.fallback] as [string, OwnContent[Platform]]]),
      ...languagesOf(content, platform).map((language): [string, OwnContent[Platform]] => [
        `payload.locales.${language}.${platform}`,
        contentIn(platform, language),
      ]),
    ];
    return shown.flatMap(([path, own]) => {
      if (isSurelySmall(own)) return [];
      const sizes = measure({ ...workspace, platform, content: own } as Parameters<MeasureContent>[0]);
      const warning = describe(sizes);
      return warning === undefined ? [] : [`${path} ${warning}`];
    });
  });
}

function describe({ bytes, most, maxEverywhere }: ReturnType<MeasureContent>): string | undefined {
  if (bytes > most) return `makes ${bytes} bytes; the limit is ${most}`;
  // Only a browser's push service can have a lower limit than the others.
  return bytes > maxEverywhere
    ? `makes ${bytes} bytes; the limit is ${maxEverywhere} for Firefox on Android`
    : undefined;
}

/** Less than the limit of every provider. */
const smallBytes = 2_900;
/** More bytes than a message adds to its content: ids, the report token, names of members (some 500 bytes). */
const addedBytes = 1_500;

/**
 * True for a content that fits in any message. Measuring composes a message, which takes some 50 microseconds, and nearly
 * all pushes are short. Android may get each text twice, and a browser gets the page's address again, percent-encoded.
 */
function isSurelySmall(content: OwnContent[Platform]): boolean {
  const encodedBytes = 'redirectUrl' in content ? 3 * Buffer.byteLength(content.redirectUrl) : 0;
  return 2 * Buffer.byteLength(JSON.stringify(content)) + encodedBytes + addedBytes <= smallBytes;
}
