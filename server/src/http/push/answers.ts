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
import { maxNamedApps } from '../../domain/limits/campaigns.ts';
import type { PushCommand } from '../../domain/push.ts';
import { androidOptions, iosOptions, providerOverrides, pushLocales, webOptions } from '../openapi/content-options.ts';
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

/**
 * The push request on the wire (interface 2.8 to 2.10, fact 3.1 to 3.5). It documents the fields and identifies unknown
 * ones. The rules are in parse-push.ts, because their errors have a fixed order.
 */
const Text = (description?: string) => Type.Optional(Type.String(description === undefined ? {} : { description }));
const Whole = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description }));
const BooleanLike = Type.Optional(Type.Union([Type.Boolean(), Type.Literal('true'), Type.Literal('false')]));

const DefaultAction = named(
  'PushDefaultAction',
  Type.Object({
    type: Type.Union([Type.Literal('richlanding'), Type.Literal('navigation'), Type.Literal('deeplinking')]),
    value: Type.String(),
    kvPairs: Type.Optional(Type.Record(Type.String(), Type.String())),
  }),
);
const RichContent = Type.Optional(Type.Array(Type.Object({ type: Type.String(), value: Type.String() })));

const androidFields = {
  message: Type.String(),
  title: Type.String(),
  summary: Text(),
  Summary: Text('Older spelling of summary'),
  channel_id: Text('Android notification channel'),
  groupKey: Text('At most 45 ASCII characters are kept'),
  collapseReplaceKey: Text('The same key updates the earlier notification'),
  richContent: RichContent,
  defaultAction: Type.Optional(DefaultAction),
  additionalActions: Type.Optional(
    Type.Array(Type.Object({ type: Type.String(), value: Text(), name: Text(), iconURL: Text() }), { maxItems: 2 }),
  ),
  options: androidOptions,
};
const iosFields = {
  message: Type.String(),
  title: Type.String(),
  subtitle: Text(),
  groupKey: Text(),
  collapseReplaceKey: Text(),
  enableIosBadge: BooleanLike,
  richContent: RichContent,
  defaultAction: Type.Optional(DefaultAction),
  additionalActions: Type.Optional(Type.Array(Type.Object({ category: Type.String() }), { maxItems: 1 })),
  options: iosOptions,
};
const webFields = {
  message: Type.String(),
  title: Type.String(),
  redirectURL: Type.String(),
  iconURL: Type.String(),
  imageURL: Text('https'),
  autoDismiss: BooleanLike,
  options: webOptions,
};

const withFallback = <Fields extends Record<string, object>>(fields: Fields) =>
  Type.Object({ ...fields, fallback: Type.Optional(Type.Partial(Type.Object(fields as never))) } as never);

const advancedSettings = named(
  'PushAdvancedSettings',
  Type.Object({
    ttl: Type.Optional(
      Type.Object({
        ANDROID: Whole(0, 10_080, 'Minutes'),
        IOS: Whole(0, 10_080, 'Minutes'),
        WEB: Whole(0, 10_080, 'Minutes'),
      }),
    ),
    silent: BooleanLike,
    ignoreFC: BooleanLike,
    countFC: BooleanLike,
    notificationPrioritySettings: Type.Optional(
      Type.Object({
        Android: Type.Optional(Type.String()),
        iOS: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(5), Type.Literal(10)])),
      }),
    ),
    'pushAmp+': BooleanLike,
    preCacheSegment: BooleanLike,
    campaignThrottleTime: Whole(1, 360, 'Minutes'),
    campaignThrottleRpm: Whole(1, 10_000_000, 'Devices a minute'),
    useJinjaPersonalization: BooleanLike,
    ignoreMinimumDelay: BooleanLike,
    inboxExpiry: Whole(1, 87_600, 'Hours'),
    iOSTargetDevice: Text(),
    appIds: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        minItems: 1,
        maxItems: maxNamedApps,
        description: 'Apps whose devices are reached; absent: all',
      }),
    ),
    deliverWhenActive: BooleanLike,
    bypassDND: BooleanLike,
    sendAtHighPriority: BooleanLike,
  }),
);

const commonFields = {
  campaignName: Type.String({ minLength: 5, maxLength: 256 }),
  requestId: Text('Echoed in the answer; one is made when it is absent'),
  requestType: Type.Optional(Type.Literal('push')),
  targetPlatform: Type.Array(Type.Union([Type.Literal('ANDROID'), Type.Literal('IOS'), Type.Literal('WEB')])),
  targetAudience: Type.Union([Type.Literal('All Users'), Type.Literal('Custom Segment'), Type.Literal('User')]),
  customSegmentName: Text('Required for audience Custom Segment'),
  targetUserAttributes: Type.Optional(
    Type.Object({
      attribute: Type.String(),
      comparisonParameter: Type.String({ description: 'is or in' }),
      attributeValue: Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 50 })]),
      isCustom: BooleanLike,
    }),
  ),
  payload: Type.Object({
    ANDROID: Type.Optional(named('PushAndroidContent', withFallback(androidFields))),
    IOS: Type.Optional(named('PushIosContent', withFallback(iosFields))),
    WEB: Type.Optional(named('PushWebContent', withFallback(webFields))),
    locales: pushLocales,
    providerOverrides,
  }),
  campaignDelivery: named(
    'PushDelivery',
    Type.Object({
      type: Type.Union([Type.Literal('soon'), Type.Literal('later'), Type.Literal('periodic')]),
      date: Text('MM/DD/YYYY'),
      time: Text('hh:mm AM/PM'),
      endDate: Text('MM/DD/YYYY'),
      timezone: Text('IANA name'),
      repeatAfter: Text('Days between sends, 1 to 365'),
    }),
  ),
  campaignTags: Type.Optional(Type.Array(Type.String())),
  conversionGoals: Type.Optional(
    Type.Array(
      named(
        'PushConversionGoal',
        Type.Object({
          name: Type.String(),
          eventName: Type.String(),
          attrs: Type.Optional(
            Type.Object({
              name: Type.String(),
              filter: Type.String(),
              type: Type.Union([Type.Literal('string'), Type.Literal('numeric')]),
              value: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Array(Type.String())])),
            }),
          ),
        }),
      ),
      { maxItems: 5 },
    ),
  ),
  advancedSettings: Type.Optional(advancedSettings),
};

export const pushBodyV21 = named(
  'PushRequestV21',
  Type.Object({
    ...commonFields,
    appId: Text('Only equal to the header'),
    signature: Text('Only equal to the header'),
  }),
);
export const pushBodyV2 = named(
  'PushRequestV2',
  Type.Object({ ...commonFields, appId: Type.String(), signature: Type.String() }),
);

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
    reference: Type.String({ description: 'Finds this call in the API log' }),
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

/** The stronger signature, in addition: it covers id, time and body, and is valid for one request. */
export const strongSignatureHeaders = {
  'X-*-PushAPI-Signature-V2': Text('v1, a comma and the Base64 of HMAC-SHA-256 over id.timestamp.body'),
  'webhook-id': Text('Unique to this request; with the stronger signature'),
  'webhook-timestamp': Text('Seconds since 1970; with the stronger signature'),
};
