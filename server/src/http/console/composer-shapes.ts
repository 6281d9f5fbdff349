import { Type } from 'typebox';
import { Platform } from './platform-shapes.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const ComposerResources = described(
  Type.Object({
    attributes: described(Type.Array(Type.String()), "Names of its people's attributes."),
    businessEvents: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        attributes: Type.Array(Type.Object({ name: Type.String(), type: Type.String() })),
      }),
    ),
    credentials: described(
      Type.Object({
        ANDROID: Type.Optional(oneOf(['real', 'simulated'])),
        IOS: Type.Optional(oneOf(['real', 'simulated'])),
        WEB: Type.Optional(oneOf(['real', 'simulated'])),
      }),
      "Absent: the workspace has no credential of that platform's provider.",
    ),
    controls: Type.Object({
      frequencyCaps: described(Type.Array(Type.String()), 'As in `2/1d`.'),
      quietHours: orNull(Type.Object({ from: Type.String(), to: Type.String(), mode: oneOf(['HOLD', 'DROP']) })),
      minimumDelayMinutes: orNull(Type.Number()),
      timeZone: Type.String(),
    }),
    now: Type.String(),
  }),
  'What a workspace has that a campaign may use.',
);

export const CampaignFault = described(
  Type.Object({ field: Type.String(), issue: Type.String() }),
  'A field of the body, as `basic_details.name`, and what is wrong with it.',
);

export const CampaignOccurrence = Type.Object({
  at: Type.String(),
  local: described(Type.Object({ date: Type.String(), time: Type.String() }), 'YYYY-MM-DD and hh:mm in `timeZone`.'),
  timeZone: Type.String(),
  offset: Type.String({ description: 'As in `+05:30`.' }),
  clockChange: orNull(
    Type.Union([
      Type.Object({ kind: Type.Literal('skipped'), asked: Type.String() }),
      Type.Object({ kind: Type.Literal('twice') }),
      Type.Object({ kind: Type.Literal('shifted'), before: Type.String(), after: Type.String() }),
    ]),
  ),
});

export const CampaignWarning = Type.Object({
  code: Type.String(),
  tone: oneOf(['warning', 'note']),
  part: oneOf(['audience', 'content', 'schedule']),
  message: Type.String(),
});

export const CampaignCheck = Type.Object({
  faults: Type.Array(CampaignFault),
  schedule: described(
    orNull(Type.Object({ kind: Type.String(), occurrences: Type.Array(CampaignOccurrence) })),
    'Null while it cannot be read. `soon`, `later`, `periodic`, `calendar` or `triggered`.',
  ),
  audienceText: described(orNull(Type.String()), 'Filters in words.'),
  warnings: described(Type.Array(CampaignWarning), 'Empty while something is wrong.'),
});

export const Reach = described(
  oneOf(['REACHED', 'OTHER_PLATFORM', 'OPTED_OUT', 'BLOCKED', 'GONE', 'NO_DEVICE']),
  "The best of a person's devices: reached, or what is in the way.",
);

export const AudienceCount = Type.Union([
  Type.Object({
    state: Type.Literal('COUNTED'),
    users: Type.Array(Type.Object({ reach: Reach, users: Type.Number() })),
    devices: Type.Array(
      Type.Object({
        platform: Platform,
        state: oneOf(['ACTIVE', 'OPTED_OUT', 'BLOCKED', 'GONE']),
        devices: Type.Number(),
      }),
    ),
    pending: described(Type.Array(Type.String()), 'Segments that are still filled, or cannot be sent to.'),
  }),
  Type.Object({ state: Type.Literal('TOO_SLOW'), afterSeconds: Type.Number() }),
  Type.Object({ state: Type.Literal('UNREADABLE'), faults: Type.Array(CampaignFault) }),
]);

export const PlatformPreview = Type.Object({
  outcome: oneOf(['RENDERED', 'FALLBACK', 'FAILED']),
  content: Type.Optional(
    described(
      Type.Object(
        { basic_details: Type.Record(Type.String(), Type.Unknown()) },
        { additionalProperties: Type.Unknown() },
      ),
      'As in `campaign_content`.',
    ),
  ),
  failure: Type.Optional(Type.Object({ field: Type.String(), cause: Type.String(), reason: Type.String() })),
  payload: Type.Optional(
    described(
      Type.Object({ bytes: Type.Number(), most: Type.Number(), maxEverywhere: Type.Number() }),
      'What its provider counts, the most it accepts, and the most that every browser accepts.',
    ),
  ),
});

export const CampaignPreview = Type.Object({
  customer_id: Type.String({ description: 'Empty for nobody in particular.' }),
  platforms: Type.Object({
    android: Type.Optional(PlatformPreview),
    ios: Type.Optional(PlatformPreview),
    web: Type.Optional(PlatformPreview),
  }),
});

export const TestResults = described(
  Type.Record(
    Type.String(),
    Type.Object({ status: oneOf(['success', 'failed']), failure_reason: Type.Optional(Type.String()) }),
  ),
  'By the value that was asked for.',
);

export const PreviewAnswer = described(
  Type.Object({ response_id: Type.String(), type: Type.Literal('campaign'), data: CampaignPreview }),
  'As V5 answers.',
);
