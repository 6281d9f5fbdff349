import { Type } from 'typebox';
import { forAllCounters, forAllProviders, providerNames } from '../../domain/delivery/providers.ts';
import { refusalRules } from '../../domain/sandbox/refusals.ts';
import { maxFaultsOfKind } from '../../domain/sandbox/faults.ts';
import { InboxMessage } from '../console/overview.ts';
import { named } from '../openapi/shapes.ts';

/* Bodies and responses of the sandbox. */

export const inboxQuery = Type.Object({
  workspaceId: Type.Optional(Type.String({ maxLength: 64, description: 'Default: the demo workspace' })),
  after: Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$', description: 'Only messages newer than this id' })),
  limit: Type.Optional(Type.String({ pattern: '^[0-9]{1,4}$', description: '1 to 1000, default 100' })),
  wait: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,5}(\\.[0-9]{1,6})?$',
      description: 'Milliseconds to wait for a first message, up to 30000',
    }),
  ),
});

export const inboxEventsQuery = Type.Object({
  workspaceId: Type.Optional(Type.String({ maxLength: 64, description: 'Default: the demo workspace' })),
  after: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{24}$',
      description: 'Messages newer than this id; default: messages that arrive from now on',
    }),
  ),
});

export const clockMove = named(
  'SandboxClockMove',
  Type.Union([
    named(
      'SandboxClockAdvance',
      Type.Object(
        { advanceSeconds: Type.Number({ minimum: 0, maximum: 400_000_000 }) },
        { additionalProperties: false },
      ),
    ),
    named(
      'SandboxRunUntilIdle',
      Type.Object(
        {
          runUntilIdle: Type.Literal(true),
          withinSeconds: Type.Optional(
            Type.Number({
              minimum: 1,
              maximum: 400_000_000,
              description: 'Stops before messages that are due later than this; default 2678400, 31 days',
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    named('SandboxClockFreeze', Type.Object({ freeze: Type.Literal(true) }, { additionalProperties: false })),
    named('SandboxClockResume', Type.Object({ resume: Type.Literal(true) }, { additionalProperties: false })),
    named('SandboxClockReset', Type.Object({ reset: Type.Literal(true) }, { additionalProperties: false })),
  ]),
);

/** The message as the console shows it. */
const message = named('SandboxMessage', InboxMessage);
export const inbox = named('SandboxInbox', Type.Object({ messages: Type.Array(message) }));

export const demo = named('SandboxDemo', Type.Object({ workspaceId: Type.String() }));

const refusal = named(
  'SandboxRefusal',
  Type.Object({
    number: Type.Integer({ description: 'Counted from 1 at the start of the node' }),
    at: Type.String(),
    provider: Type.Union(providerNames.map((name) => Type.Literal(name))),
    path: Type.String(),
    device: Type.Union([Type.String(), Type.Null()]),
    status: Type.Union([Type.Integer(), Type.Null()], { description: 'Null: no response, or the stream was cut' }),
    reason: Type.String({ description: "The reason in the provider's words" }),
    rule: Type.Union(refusalRules.map((rule) => Type.Literal(rule))),
    headers: Type.Record(Type.String(), Type.String(), { description: 'Credentials are reduced to their scheme' }),
  }),
);
export const refusals = named('SandboxRefusals', Type.Object({ refusals: Type.Array(refusal) }));
export const refusalsQuery = Type.Object({
  limit: Type.Optional(Type.String({ pattern: '^(?:[1-9][0-9]{0,2}|1000)$', description: '1 to 1000, default 100' })),
});

const counted = named(
  'SandboxCounted',
  Type.Object({ received: Type.Integer(), accepted: Type.Integer(), refused: Type.Integer() }),
);
export const counters = named('SandboxCounters', Type.Object(forAllCounters(Type.Optional(counted))));

export const clock = named(
  'SandboxClock',
  Type.Object({
    now: Type.String(),
    offsetSeconds: Type.Number({ description: 'Seconds ahead of real time; negative if behind it' }),
    frozen: Type.Boolean({ description: 'True while the clock is stopped, until it is moved, resumed or reset' }),
    advancing: Type.Union([Type.Object({ stops: Type.Integer(), remainingSeconds: Type.Number() }), Type.Null()], {
      description: 'Progress of the advance; null if the clock is not being moved',
    }),
  }),
);

const fault = named(
  'SandboxFault',
  Type.Object(
    {
      status: Type.Optional(
        Type.Number({
          minimum: 200,
          maximum: 599,
          description: 'Return this response instead of processing the request',
        }),
      ),
      body: Type.Optional(Type.String()),
      headers: Type.Optional(Type.Record(Type.String(), Type.String())),
      answer: Type.Optional(
        Type.String({
          description: 'For a provider: an answer of the real provider, by its name in docs/sandbox.md',
        }),
      ),
      delayMilliseconds: Type.Optional(
        Type.Number({ minimum: 0, maximum: 60_000, description: 'Milliseconds to wait before the response' }),
      ),
      reset: Type.Optional(Type.Boolean({ description: 'Reset the stream instead of responding' })),
      goawayEvery: Type.Optional(
        Type.Number({
          minimum: 1,
          maximum: 1_000_000,
          description: 'Send GOAWAY after this many streams of a connection',
        }),
      ),
      maxStreams: Type.Optional(
        Type.Number({ minimum: 1, maximum: 10_000, description: 'Connections that one installation may hold open' }),
      ),
      nth: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'Only the n-th request' })),
      every: Type.Optional(Type.Number({ minimum: 1, maximum: 1_000_000, description: 'Only every n-th request' })),
      probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Only this share of requests' })),
      seed: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 4_294_967_295,
          description: 'Selects which requests or devices belong to the share',
        }),
      ),
      device: Type.Optional(
        Type.String({ minLength: 1, description: 'For a provider: only devices whose address begins with this text' }),
      ),
      share: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description: 'For a provider: only this share of devices, always the same ones',
        }),
      ),
      countPerDevice: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000_000_000,
          description: 'For a provider: only this many times per device',
        }),
      ),
      route: Type.Optional(
        Type.String({ description: 'For `api`: only this route, such as `POST /v1/oauth/token` or `/v5/campaigns/*`' }),
      ),
      count: Type.Optional(Type.Number({ minimum: 1, maximum: 1_000_000_000, description: 'Only this many times' })),
    },
    { additionalProperties: false },
  ),
);
const oneOrSome = Type.Union([fault, Type.Array(fault, { maxItems: maxFaultsOfKind })]);
/** `parseFaults` parses the switches and reports an invalid one. */
export const faults = named(
  'SandboxFaults',
  Type.Object(
    {
      ...forAllProviders(Type.Optional(oneOrSome)),
      api: Type.Optional(oneOrSome),
    },
    { additionalProperties: false },
  ),
);

export const browserDevice = named(
  'SandboxBrowserDevice',
  Type.Object(
    {
      customerId: Type.String({ minLength: 1, maxLength: 512 }),
      subscription: Type.Object({
        endpoint: Type.String({ maxLength: 2048 }),
        keys: Type.Object({ p256dh: Type.String({ maxLength: 200 }), auth: Type.String({ maxLength: 100 }) }),
      }),
    },
    { additionalProperties: false },
  ),
);
export const registeredDevice = named('SandboxRegisteredDevice', Type.Object({ deviceId: Type.String() }));
