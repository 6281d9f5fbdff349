import type { CampaignDeliveryType } from '../campaigns/campaign.ts';
import { goalOperators, goalValueFault } from '../campaigns/conversions.ts';
import type { ConversionGoal } from '../campaigns/conversions.ts';
import type { DeliverySettings } from '../campaigns/delivery-settings.ts';
import { platforms } from '../content/content.ts';
import type { CampaignContent, Platform } from '../content/content.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import type { TriggerCondition } from '../events/triggers.ts';
import type { Variants } from '../experiments/variants.ts';
import {
  maxCampaignNameCharacters,
  maxCampaignTags,
  conversionWindowHours,
  maxConversionGoals,
  maxConversionWindowHours,
} from '../limits/campaigns.ts';
import { unavailable } from '../../fields/reading-rules.ts';
import type { ReadingRules } from '../../fields/reading-rules.ts';
import { RequestReader } from '../../fields/request-reader.ts';
import { quote } from '../segments/filter-members.ts';
import { makeTemplateRules } from '../template/parser.ts';
import { sourceNames } from '../template/syntax.ts';
import { textFault } from '../users/user-attributes.ts';
import { readAudienceLimit, readSegmentation } from './audience.ts';
import type { CampaignAudience } from './audience.ts';
import { readPushContent } from './content.ts';
import { readControlGroups, readAdvanced, readDeliveryControls } from './delivery.ts';
import { readSchedule } from './schedule.ts';
import type { Schedule } from './schedule.ts';
import { readTriggerCondition } from './trigger.ts';
import type { ReadTrigger } from './trigger.ts';

/** The parts of a campaign's record, as they were sent (fact 6.2). A draft stores them, and a search shows them. */
export type CampaignParts = Record<string, unknown>;

/** The parts that are objects; `channel` and `campaign_delivery_type` are outside them. */
export const partNames = [
  'basic_details',
  'campaign_content',
  'trigger_condition',
  'segmentation_details',
  'scheduling_details',
  'delivery_controls',
  'advanced',
  'conversion_goal_details',
  'control_group_details',
  'utm_params',
  'campaign_audience_limit',
] as const;

/** The delivery types that this version creates. The other documented types are rejected by name. */
export const authoredDeliveryTypes = ['ONE_TIME', 'PERIODIC', 'EVENT_TRIGGERED', 'BUSINESS_EVENT_TRIGGERED'] as const;
export type AuthoredDeliveryType = (typeof authoredDeliveryTypes)[number];

/** A campaign with valid members that was not yet checked against the clock and the database. */
export type CampaignDefinition = BasicDetails & {
  deliveryType: AuthoredDeliveryType;
  /** The first content, if there are several. */
  content: CampaignContent;
  /** Null: all users get the same content. */
  variants: Variants | null;
  audience: CampaignAudience;
  schedule: Schedule;
  goals: ConversionGoal[];
  /** Only for a campaign that events of users start. */
  trigger: TriggerCondition | undefined;
  settings: DeliverySettings;
};

export type ReadCampaign = {
  /** In a draft, any member may be invalid or absent. */
  basics: BasicDetails;
  deliveryType: CampaignDeliveryType | undefined;
  definition: CampaignDefinition | undefined;
  /** Absent members have the reason `missing`. */
  faults: RequestFault[];
  /** Unknown members of filters (decision D5). */
  unknownFields: string[];
};

/** Reads a campaign of the push channel. Every documented member without an effect here is reported as a fault by name. */
export function readCampaign(parts: CampaignParts): ReadCampaign {
  const part = makeDocumentReader(parts);
  const { faults } = part;
  part.requires('channel');
  part.choice('channel', ['PUSH']);
  part.requires('campaign_delivery_type');
  const deliveryType = part.choice('campaign_delivery_type', authoredDeliveryTypes);
  refuseParts(part);
  const isTriggered = deliveryType === 'BUSINESS_EVENT_TRIGGERED';
  const trigger = readTrigger(part, deliveryType);
  for (const name of ['basic_details', 'campaign_content', 'segmentation_details', 'scheduling_details'])
    part.requires(name);
  const basics = readBasicDetails(part.part('basic_details'), { isTriggered });
  const { content, variants } = readPushContent(part.part('campaign_content'), basics.platforms);
  const { audience, unknownFields } = readSegmentation(part.part('segmentation_details'));
  const schedule = readSchedule(part.part('scheduling_details'), deliveryType);
  const controls = readDeliveryControls(part.part('delivery_controls'));
  const groups = readControlGroups(part.part('control_group_details'));
  const limit = readAudienceLimit(part.part('campaign_audience_limit'), deliveryType);
  const settings = { ...readAdvanced(part.part('advanced')), ...controls, ...groups, ...limit };
  const goals = readGoals(part.part('conversion_goal_details'));
  if (variants?.learning && deliveryType === 'EVENT_TRIGGERED')
    part
      .part('campaign_content')
      .part('variation_details')
      .invalid(
        'distribution_type',
        'must be MANUAL for a campaign of type EVENT_TRIGGERED: its runs are too small to learn from',
      );
  if (variants?.learning?.by === 'GOAL' && goals.length === 0)
    part
      .part('campaign_content')
      .part('variation_details')
      .invalid('sherpa_metric', 'needs conversion_goal_details.goals');
  const definition =
    faults.length === 0 && deliveryType && schedule
      ? { ...basics, deliveryType, content, variants, audience, schedule, goals, settings, trigger: trigger?.condition }
      : undefined;
  return {
    basics,
    deliveryType,
    definition,
    faults: withoutRepeats(faults),
    unknownFields: [...unknownFields, ...(trigger?.unknownFields ?? [])],
  };
}

function readTrigger(part: RequestReader, deliveryType: CampaignDeliveryType | undefined): ReadTrigger | undefined {
  if (deliveryType !== 'EVENT_TRIGGERED') {
    if (part.get('trigger_condition') !== undefined)
      part.invalid('trigger_condition', 'is for campaigns of type EVENT_TRIGGERED');
    return undefined;
  }
  part.requires('trigger_condition');
  return readTriggerCondition(part.part('trigger_condition'));
}

/** Rejects parts that have no effect here. Parts that switch something off are accepted. */
function refuseParts(part: RequestReader): void {
  part.refuse('connector', 'sender_name');
  if (part.get('utm_params') !== undefined) part.invalid('utm_params', unavailable);
}

/** If a part is absent, its members are absent too; only the part is reported. */
function withoutRepeats(faults: RequestFault[]): RequestFault[] {
  const missing = new Set(faults.filter(({ reason }) => reason === 'missing').map(({ field }) => field));
  return faults.filter(({ field, reason }) => {
    if (reason !== 'missing') return true;
    const parents = field.split('.').map((_name, index, names) => names.slice(0, index).join('.'));
    return !parents.some((parent) => missing.has(parent));
  });
}

type BasicDetails = { name: string; tags: string[]; platforms: Platform[]; businessEvent: string | undefined };

const maxDetailCharacters = 256;

/** Reads `basic_details` (fact 6.2). There is one team, the default one. */
function readBasicDetails(details: RequestReader, { isTriggered }: { isTriggered: boolean }): BasicDetails {
  const team = details.text('team', maxDetailCharacters);
  if (team !== undefined && !/^default( team)?$/i.test(team))
    details.invalid('team', 'must be Default Team: other teams are not available in this version');
  details.refuse('geofences', 'broadcast_live_activity_id');
  details.only(false, 'send_to_triggered_platform_only');
  readPlatformDetails(details.part('platform_specific_details'));
  const businessEvent = details.text('business_event', maxDetailCharacters);
  if (isTriggered) details.requires('business_event');
  else if (businessEvent !== undefined)
    details.invalid('business_event', 'is for campaigns of type BUSINESS_EVENT_TRIGGERED');
  return {
    name: details.requiredText('name', maxCampaignNameCharacters).trim(),
    tags: details.texts('tags', { maxItems: maxCampaignTags, maxCharacters: maxDetailCharacters }) ?? [],
    platforms: readPlatforms(details),
    businessEvent,
  };
}

function readPlatforms(details: RequestReader): Platform[] {
  details.requires('platforms');
  const sent = details.list('platforms', platforms.length).map((word) => String(word).toUpperCase());
  const known = platforms.filter((platform) => sent.includes(platform));
  if (known.length !== new Set(sent).size) details.invalid('platforms', `must hold only ${platforms.join(', ')}`);
  return known;
}

function readPlatformDetails(details: RequestReader): void {
  details.part('android').only(false, 'push_amp_plus_enabled');
  const ios = details.part('ios');
  ios.only(true, 'send_to_all_eligible_device');
  ios.only(false, 'exclude_provisional_push_devices', 'send_to_only_provisional_push_enabled_devices');
}

/**
 * Reads `conversion_goal_details` (fact 6.2). The first goal is the primary one; all goals share one window.
 */
function readGoals(details: RequestReader): ConversionGoal[] {
  const hours = { minimum: 1, maximum: maxConversionWindowHours };
  const given = details.integer('attribution_window_in_hours', hours);
  const windowHours = given === conversionWindowHours ? undefined : given;
  return details.parts('goals', maxConversionGoals).map((goal, index) => {
    if (goal.flag('is_primary_goal') === true && index > 0)
      goal.invalid('is_primary_goal', 'must be false: the first goal is the primary one');
    const attribute = readAttribute(goal);
    const revenue = readRevenue(goal);
    return {
      name: goal.requiredText('goal_name', maxDetailCharacters),
      eventName: goal.requiredText('goal_event_name', maxDetailCharacters),
      ...(attribute === undefined ? {} : { attribute }),
      ...(windowHours === undefined ? {} : { windowHours }),
      ...(revenue === undefined ? {} : { revenue }),
    };
  });
}

/** Reads the attribute that holds an event's revenue. The currency is reported with the sum; amounts are not converted. */
function readRevenue(goal: RequestReader): ConversionGoal['revenue'] {
  const attribute = goal.text('revenue_attribute', maxDetailCharacters);
  const currency = goal.text('revenue_currency', maxDetailCharacters);
  if (currency !== undefined && !/^[A-Z]{3}$/.test(currency))
    goal.invalid('revenue_currency', 'must be a code of three letters (ISO 4217)');
  if (attribute === undefined) {
    if (currency !== undefined) goal.invalid('revenue_currency', 'needs revenue_attribute');
    return undefined;
  }
  return { attribute, ...(currency === undefined ? {} : { currency }) };
}

/** Reads the members of the push API's `attrs` (interface 2.10), with `operator` instead of `filter`. */
function readAttribute(goal: RequestReader): ConversionGoal['attribute'] {
  if (goal.get('goal_event_attribute') === undefined) return undefined;
  const part = goal.part('goal_event_attribute');
  const name = part.requiredText('name', maxDetailCharacters);
  part.requires('type');
  part.requires('operator');
  const type = part.choice('type', ['string', 'numeric']);
  if (type === undefined) return undefined;
  const operator = part.choice('operator', Object.keys(goalOperators[type]));
  if (operator === undefined) return undefined;
  const value = part.get('value');
  const fault = goalValueFault(goalOperators[type][operator]!, value);
  if (fault !== undefined) part.invalid('value', fault);
  return { name, type, operator, ...(value === undefined ? {} : { value: value as string | number | string[] }) };
}

/** Returns a reader for a part of a campaign's record; `path` is the path of the part in the record. */
export function makeDocumentReader(members: Record<string, unknown>, path = ''): RequestReader {
  return new RequestReader(members, { path, rules: documentRules });
}

/** Null, an empty text, an empty list and an empty object count as not sent, because clients fill forms with them. */
const documentRules: ReadingRules = {
  tells: 'all',
  isSent,
  isAbsent: (value) => !isSent(value),
  missing: 'missing',
  maxTextCharacters: 4_096,
  textFault: (text, maxCharacters) =>
    textFault(text) ?? (text.length > maxCharacters ? `must have at most ${maxCharacters} characters` : undefined),
  toFlag: (value) =>
    typeof value === 'boolean' ? value : value === 'true' ? true : value === 'false' ? false : undefined,
  toNumber: (value) => (typeof value === 'string' && /^\d{1,15}(\.\d{1,9})?$/.test(value) ? Number(value) : value),
  toPairText: (value) => value,
  // Case does not matter, because the samples of the interface differ.
  isChoice: (value, word) => typeof value === 'string' && String(word).toUpperCase() === value.toUpperCase(),
  choiceFault: (value, words) => `must be one of ${words.join(', ')} in this version, not ${quote(value)}`,
  listFault: (value, maxItems) =>
    Array.isArray(value) && value.length <= maxItems ? undefined : `must be a list of at most ${maxItems} items`,
  onlyFault: (value) => `must be ${value}: ${!value} ${unavailable}`,
  templates: makeTemplateRules({ mode: 'AUTO', sources: sourceNames }),
};

function isSent(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
