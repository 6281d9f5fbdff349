import * as accounts from '../accounts/limits.ts';
import * as apiLog from '../api-log/limits.ts';
import * as businessEvents from '../business-events/limits.ts';
import * as campaigns from '../campaigns/limits.ts';
import * as contentOptions from '../content-options/limits.ts';
import * as delivery from '../delivery/limits.ts';
import * as devices from '../devices/limits.ts';
import * as eligibility from '../eligibility/limits.ts';
import * as experiments from '../experiments/limits.ts';
import * as events from '../events/limits.ts';
import * as idempotency from '../idempotency/limits.ts';
import * as interactions from '../interactions/limits.ts';
import * as liveActivities from '../live-activities/limits.ts';
import * as ledger from '../ledger/limits.ts';
import * as eventStreams from '../event-streams/limits.ts';
import * as outbox from '../outbox/limits.ts';
import * as push from '../push/limits.ts';
import * as requests from '../requests/limits.ts';
import * as retention from '../retention/limits.ts';
import * as sandbox from '../sandbox/limits.ts';
import * as segments from '../segments/limits.ts';
import * as stats from '../stats/limits.ts';
import * as template from '../template/limits.ts';
import * as timing from '../timing/limits.ts';
import * as tokens from '../tokens/limits.ts';
import * as triggers from '../triggers/limits.ts';
import * as users from '../users/limits.ts';
import { accessLimitTexts } from './access-limit-texts.ts';
import { campaignLimitTexts } from './campaign-limit-texts.ts';
import { deliveryLimitTexts } from './delivery-limit-texts.ts';
import { experimentLimitTexts } from './experiment-limit-texts.ts';
import { liveActivityLimitTexts } from './live-activity-limit-texts.ts';
import { optionLimitTexts } from './option-limit-texts.ts';
import { retentionLimitTexts } from './retention-limit-texts.ts';
import { segmentLimitTexts } from './segment-limit-texts.ts';
import { timingLimitTexts } from './timing-limit-texts.ts';
import { triggerLimitTexts } from './trigger-limit-texts.ts';
import { userLimitTexts } from './user-limit-texts.ts';
import type { LimitText } from './limit-text.ts';
import type { LimitWindow } from './sliding-window.ts';

export type LimitValue =
  | number
  | readonly number[]
  | readonly LimitWindow[]
  | Readonly<Record<string, number | readonly LimitWindow[] | LimitWindow>>;

export type DocumentedLimit = LimitText & {
  /** `<noun>.<constant>`; the constant stands in domain/<noun>/limits.ts. */
  id: string;
  noun: string;
  value: LimitValue;
};

const texts = {
  ...campaignLimitTexts,
  ...timingLimitTexts,
  ...experimentLimitTexts,
  ...triggerLimitTexts,
  ...optionLimitTexts,
  ...liveActivityLimitTexts,
  ...deliveryLimitTexts,
  ...userLimitTexts,
  ...segmentLimitTexts,
  ...accessLimitTexts,
  ...retentionLimitTexts,
};

/** The constants themselves. A noun with limits is listed here; the types ask for a text for each of its constants. */
export const limitConstants: { [Noun in keyof typeof texts]: Record<keyof (typeof texts)[Noun], LimitValue> } = {
  push,
  campaigns,
  'content-options': contentOptions,
  'live-activities': liveActivities,
  'business-events': businessEvents,
  timing,
  eligibility,
  experiments,
  triggers,
  delivery,
  template,
  interactions,
  outbox,
  'event-streams': eventStreams,
  users,
  events,
  devices,
  segments,
  tokens,
  accounts,
  idempotency,
  requests,
  stats,
  'api-log': apiLog,
  ledger,
  retention,
  sandbox,
};

/** Every limit, lifetime and retention that the contract or the product sets: docs/limits.md is written from this list. */
export const documentedLimits: readonly DocumentedLimit[] = Object.entries(texts).flatMap(([noun, constants]) =>
  Object.entries(constants as Record<string, LimitText>).map(([name, text]) => ({
    ...text,
    id: `${noun}.${name}`,
    noun,
    value: (limitConstants as Record<string, Record<string, LimitValue>>)[noun]![name]!,
  })),
);
