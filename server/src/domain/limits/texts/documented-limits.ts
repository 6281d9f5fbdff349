import type { LimitWindow } from '../../access/rate-limits.ts';
import * as accounts from '../accounts.ts';
import * as apiLog from '../api-log.ts';
import * as businessEvents from '../business-events.ts';
import * as campaigns from '../campaigns.ts';
import * as contentOptions from '../content-options.ts';
import * as delivery from '../delivery.ts';
import * as devices from '../devices.ts';
import * as eligibility from '../eligibility.ts';
import * as eventStreams from '../event-streams.ts';
import * as events from '../events.ts';
import * as experiments from '../experiments.ts';
import * as idempotency from '../idempotency.ts';
import * as interactions from '../interactions.ts';
import * as ledger from '../ledger.ts';
import * as liveActivities from '../live-activities.ts';
import * as outbox from '../outbox.ts';
import * as push from '../push.ts';
import * as requests from '../requests.ts';
import * as retention from '../retention.ts';
import * as sandbox from '../sandbox.ts';
import * as segments from '../segments.ts';
import * as stats from '../stats.ts';
import * as template from '../template.ts';
import * as timing from '../timing.ts';
import * as tokens from '../tokens.ts';
import * as triggers from '../triggers.ts';
import * as users from '../users.ts';
import { accessLimitTexts, retentionLimitTexts } from './access.ts';
import { campaignLimitTexts, experimentLimitTexts, liveActivityLimitTexts, triggerLimitTexts } from './campaigns.ts';
import { deliveryLimitTexts, optionLimitTexts, timingLimitTexts } from './delivery.ts';
import type { LimitText } from './limit-text.ts';
import { segmentLimitTexts, userLimitTexts } from './users.ts';

export type LimitValue =
  | number
  | readonly number[]
  | readonly LimitWindow[]
  | Readonly<Record<string, number | readonly LimitWindow[] | LimitWindow>>;

export type DocumentedLimit = LimitText & {
  /** `<noun>.<constant>`; the constant is in domain/limits/<noun>.ts. */
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

/** The constants. Each noun with limits is listed here; the types require a text for each of its constants. */
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

/**
 * Every limit, lifetime and retention that the contract or the product sets. docs/limits.md is generated from this
 * list.
 */
export const documentedLimits: readonly DocumentedLimit[] = Object.entries(texts).flatMap(([noun, constants]) =>
  Object.entries(constants as Record<string, LimitText>).map(([name, text]) => ({
    ...text,
    id: `${noun}.${name}`,
    noun,
    value: (limitConstants as Record<string, Record<string, LimitValue>>)[noun]![name]!,
  })),
);
