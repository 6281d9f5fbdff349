import { randomUUID } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { AcceptedPush } from '../../app/push/store-pushes.ts';
import type { App } from '../../domain/apps.ts';
import { lostInApps } from '../../domain/campaigns/warnings.ts';
import type { LostInApps } from '../../domain/campaigns/warnings.ts';
import type { AndroidPayload, IosOptions } from '../../domain/content/content.ts';
import { errorRegistry } from '../../domain/errors.ts';
import type { ErrorName, ServiceError } from '../../domain/errors.ts';
import type { PushCommand } from '../../domain/push.ts';
import { named } from '../openapi/shapes.ts';
import { addressErrors, bodyErrors, busyErrors, declareErrors, repeatErrors } from '../route/dialect-errors.ts';

/**
 * Errors of the push family. Errors that the contract names are business failures and return 200 with `Fail` (decision D31);
 * the message is the registry's text.
 */
export const pushErrors = declareErrors(
  {
    PUSH_REQUEST_TYPE_INVALID: { status: 200 },
    PUSH_APP_ID_INVALID: { status: 200 },
    PUSH_APP_ID_MISSING: { status: 200 },
    PUSH_NAME_MISSING: { status: 200 },
    PUSH_NAME_TOO_SHORT: { status: 200 },
    PUSH_RATE_LIMITED: {},
    PUSH_SIGNATURE_MISSING: { status: 200 },
    PUSH_SIGNATURE_INVALID: { status: 200 },
    PUSH_NAME_DUPLICATE: { status: 200 },
    PUSH_VALUE_NOT_ALLOWED: { status: 200 },
    PUSH_PARAMETER_INVALID: { status: 200 },
  },
  { shared: [...bodyErrors, ...addressErrors, ...repeatErrors, ...busyErrors], wireOf: () => ({}) },
);

/** The values of `Error_Message`; the registry's marks are replaced by a field and a reason. */
const pushFailureTexts = Object.keys(pushErrors).map((name) => errorRegistry[name as ErrorName].text);

export function presentAcceptedPush({ requestId, responseId, campaignId }: AcceptedPush) {
  return { status: 'Success', requestId, responseId, cid: campaignId };
}

/** Sends the body of interface 2.11 with `Fail`; an internal fault has the shape of fact 3.6. */
export function presentPushError(error: ServiceError, reply: FastifyReply): FastifyReply {
  const { retryAfterSeconds } = error.context;
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  const status = pushErrors[error.code]?.status;
  const responseId = randomUUID();
  if (status === undefined) {
    return reply.code(500).send({ code: 500, status: 'error', reason: error.message, reference: responseId });
  }
  if (status === 405) reply.header('allow', 'POST');
  return reply.code(status).send({ status: 'Fail', requestId: '', responseId, Error_Message: error.message });
}

/** Returns warnings about content that a phone may not show; the push is accepted. */
export function presentContentWarnings(
  { content, settings }: Pick<PushCommand, 'content' | 'settings'>,
  { payload, apps }: { payload: AndroidPayload; apps: readonly App[] },
): string[] {
  const { ANDROID, IOS } = content;
  return [
    ...(ANDROID ? lostInApps(ANDROID, { mode: payload.mode, apps, settings }) : []).flatMap(warnOfLost),
    ...warnOfEntitlements(IOS?.options),
  ];
}

function warnOfLost({ mode, apps, lost }: LostInApps): string[] {
  const which = apps.length === 0 ? 'the app' : `app ${apps.join(' or ')}`;
  return lost.map(
    ({ field }) => `payload.ANDROID.${field} is not shown in mode ${mode} while ${which} is in the background`,
  );
}

/** Apple ignores these options for an app without the entitlement, and only the app's owner knows whether it has it. */
function warnOfEntitlements(options: IosOptions = {}): string[] {
  const warnings: string[] = [];
  if (options.filterCriteria !== undefined)
    warnings.push('payload.IOS.options.filterCriteria needs an app with Focus filters');
  if (options.interruptionLevel === 'time-sensitive' || options.interruptionLevel === 'critical')
    warnings.push(`payload.IOS.options.interruptionLevel ${options.interruptionLevel} needs an entitlement of the app`);
  if (options.sound && 'critical' in options.sound)
    warnings.push(
      'payload.IOS.options.sound.critical needs an entitlement of the app; apps without critical alerts play a plain sound',
    );
  return warnings;
}

const answered = { requestId: Type.String(), responseId: Type.String() };

/** Interface 2.11: `cid` on success only, `Error_Message` on failure only. */
export const pushSuccess = named(
  'PushSuccess',
  Type.Object({
    status: Type.Literal('Success'),
    ...answered,
    cid: Type.String({ description: 'The id of the campaign' }),
  }),
);
export const pushFailure = named(
  'PushFailure',
  Type.Object({
    status: Type.Literal('Fail'),
    ...answered,
    Error_Message: Type.String({ description: `One of: ${pushFailureTexts.join('; ')}` }),
  }),
);
export const pushAnswer = named('PushAnswer', Type.Union([pushSuccess, pushFailure]));

/** The response for an internal fault (fact 3.6). */
export const pushFault = named(
  'PushFault',
  Type.Object({
    code: Type.Literal(500),
    status: Type.Literal('error'),
    reason: Type.String(),
    reference: Type.String({ description: 'Identifies this call in the API log' }),
  }),
);

/** The identity: v2.1 has it in headers, v2 in the body (interface 4.4, 4.5). */
export const identityHeaders = {
  'X-*-APPKEY': Type.String({ description: 'Workspace ID. The id of a test account ends in _DEBUG' }),
  'X-*-PushAPI-Signature': Type.String({
    description: 'Lowercase hex SHA-256 of <app id>|<campaign name>|<push key> (interface 5)',
  }),
  'X-*-Query-Type': Type.Unsafe<string>({
    type: 'string',
    enum: ['all users', 'user', 'custom segment'],
    description: 'targetAudience in lower case',
  }),
};

const header = (description: string) => Type.Optional(Type.String({ description }));

/** The stronger signature, in addition: it covers id, time and body, and is valid for one request. */
export const strongSignatureHeaders = {
  'X-*-PushAPI-Signature-V2': header('v1, a comma and the Base64 of HMAC-SHA-256 over id.timestamp.body'),
  'webhook-id': header('Unique to this request; with the stronger signature'),
  'webhook-timestamp': header('Seconds since 1970; with the stronger signature'),
};
