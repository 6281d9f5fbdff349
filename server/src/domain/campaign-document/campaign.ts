import type { CampaignDeliveryType } from '../campaigns/campaign.ts';
import type { ConversionGoal } from '../campaigns/conversions.ts';
import type { DeliverySettings } from '../campaigns/delivery-settings.ts';
import { platforms } from '../content/content.ts';
import type { CampaignContent, Platform } from '../content/content.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import type { TriggerCondition } from '../events/triggers.ts';
import type { Variants } from '../experiments/variants.ts';
import { maxCampaignNameCharacters, maxCampaignTags } from '../limits/campaigns.ts';
import {
  alwaysRead,
  anything,
  list,
  matching,
  only,
  optional,
  part,
  refused,
  required,
  requiredText,
  text,
  texts,
  word,
} from '../../fields/combinators.ts';
import { reading } from '../../fields/field.ts';
import { unavailable } from '../../fields/reading-rules.ts';
import type { ReadingRules } from '../../fields/reading-rules.ts';
import { RequestReader } from '../../fields/request-reader.ts';
import { quote } from '../segments/filter-members.ts';
import { makeTemplateRules } from '../template/parser.ts';
import { sourceNames } from '../template/syntax.ts';
import { textFault } from '../users/user-attributes.ts';
import { audienceLimit, readAudienceLimit, segmentation } from './audience.ts';
import type { CampaignAudience } from './audience.ts';
import { campaignContent, readCampaignContent } from './content.ts';
import { advanced, controlGroups, deliveryControls } from './delivery.ts';
import { conversionGoals } from './goals.ts';
import { readSchedule, scheduling } from './schedule.ts';
import type { Schedule } from './schedule.ts';
import { triggerCondition } from './trigger.ts';
import type { ReadTrigger } from './trigger.ts';
import { utmParams } from './utm-params.ts';

/** The parts of a campaign's record, as they were sent (fact 6.2). A draft stores them, and a search shows them. */
export type CampaignParts = Record<string, unknown>;

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
  /** The topic comes from the database. */
  settings: Omit<DeliverySettings, 'topic'>;
  /** Undefined: the campaign has no topic. */
  topicKey: string | undefined;
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

const maxDetailCharacters = 256;

const basicMembers = {
  name: optional(requiredText({ max: maxCampaignNameCharacters })),
  platforms: alwaysRead(texts({ description: platforms.join(', ') }), readPlatforms),
  platform_specific_details: part({
    android: part({ push_amp_plus_enabled: only(false) }),
    ios: part({
      send_to_all_eligible_device: only(true),
      exclude_provisional_push_devices: only(false),
      send_to_only_provisional_push_enabled_devices: only(false),
    }),
  }),
  tags: texts({ maxItems: maxCampaignTags, maxCharacters: maxDetailCharacters }),
  // There is one team, the default one.
  team: matching({
    pattern: /^default( team)?$/i,
    reason: 'must be Default Team: other teams are not available in this version',
    max: maxDetailCharacters,
    description: 'Default Team',
  }),
  business_event: text({
    max: maxDetailCharacters,
    description: 'Name of the event of a BUSINESS_EVENT_TRIGGERED campaign',
  }),
  geofences: refused(list(anything, { max: 1 })),
  broadcast_live_activity_id: refused(),
  send_to_triggered_platform_only: only(false),
};

/** `basic_details` (fact 6.2). */
const basicDetails = part(basicMembers, { title: 'CampaignBasicDetails' });

type BasicDetails = ReturnType<typeof readBasicDetails>;

function readBasicDetails(details: RequestReader, deliveryType: CampaignDeliveryType | undefined) {
  const read = reading(details, basicMembers);
  for (const name of ['team', 'geofences', 'broadcast_live_activity_id', 'send_to_triggered_platform_only'] as const)
    read(name);
  read('platform_specific_details');
  const businessEvent = read('business_event');
  if (deliveryType === 'BUSINESS_EVENT_TRIGGERED') details.requires('business_event');
  else if (businessEvent !== undefined)
    details.invalid('business_event', 'is for campaigns of type BUSINESS_EVENT_TRIGGERED');
  return {
    name: read('name').trim(),
    tags: read('tags') ?? [],
    platforms: read('platforms'),
    businessEvent,
  };
}

function readPlatforms(details: RequestReader, name: string): Platform[] {
  details.requires(name);
  const sent = details.list(name, platforms.length).map((platform) => String(platform).toUpperCase());
  const known = platforms.filter((platform) => sent.includes(platform));
  if (known.length !== new Set(sent).size) details.invalid(name, `must hold only ${platforms.join(', ')}`);
  return known;
}

/** The parts that the delivery type or the platforms decide on are read by functions: the first two, the schedule, the limit. */
const documentParts = {
  basic_details: basicDetails,
  campaign_content: campaignContent,
  trigger_condition: triggerCondition,
  segmentation_details: segmentation,
  scheduling_details: scheduling,
  delivery_controls: deliveryControls,
  advanced,
  conversion_goal_details: conversionGoals,
  control_group_details: controlGroups,
  utm_params: utmParams,
  campaign_audience_limit: audienceLimit,
};

/**
 * The members of a push campaign's record (fact 6.2). A draft may lack any of them, so the document requires only those
 * that every request has.
 */
export const campaignDocument = {
  channel: required(word(['PUSH'], 'PUSH')),
  campaign_delivery_type: required(
    word(authoredDeliveryTypes, 'ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED'),
  ),
  ...documentParts,
  connector: refused(anything),
  sender_name: refused(),
};

/** The parts that are objects; `channel` and `campaign_delivery_type` are outside them. */
export const partNames = Object.keys(documentParts) as (keyof typeof documentParts)[];

/** Reads a campaign of the push channel. Every documented member without an effect here is reported as a fault by name. */
export function readCampaign(parts: CampaignParts): ReadCampaign {
  const record = makeDocumentReader(parts);
  const read = reading(record, campaignDocument);
  const { faults } = record;
  read('channel');
  const deliveryType = read('campaign_delivery_type');
  for (const name of ['connector', 'sender_name'] as const) read(name);
  const trigger = readTrigger(record, deliveryType);
  for (const name of ['basic_details', 'campaign_content', 'segmentation_details', 'scheduling_details'])
    record.requires(name);
  const basics = readBasicDetails(record.part('basic_details'), deliveryType);
  const { content, variants } = readCampaignContent(record.part('campaign_content'), basics.platforms);
  const { audience, unknownFields } = read('segmentation_details');
  const schedule = readSchedule(record.part('scheduling_details'), deliveryType);
  const controls = read('delivery_controls');
  const groups = read('control_group_details');
  const limit = readAudienceLimit(record.part('campaign_audience_limit'), deliveryType);
  const utm = read('utm_params');
  const { topicKey, ...ofAdvanced } = read('advanced');
  const settings = { ...ofAdvanced, ...controls, ...groups, ...limit, ...(utm && { utm }) };
  if (settings.inbox && limit.audienceLimit)
    record.part('advanced').part('inbox').invalid('send_to', 'cannot be combined with campaign_audience_limit');
  const goals = read('conversion_goal_details');
  checkLearning(record, { variants, deliveryType, goals });
  const definition =
    faults.length === 0 && deliveryType && schedule
      ? {
          ...{ ...basics, deliveryType, content, variants, audience, schedule, goals },
          ...{ settings, topicKey, trigger: trigger?.condition },
        }
      : undefined;
  return {
    basics,
    deliveryType,
    definition,
    faults: withoutRepeats(faults),
    unknownFields: [...unknownFields, ...(trigger?.unknownFields ?? [])],
  };
}

function readTrigger(record: RequestReader, deliveryType: CampaignDeliveryType | undefined): ReadTrigger | undefined {
  if (deliveryType !== 'EVENT_TRIGGERED') {
    if (record.get('trigger_condition') !== undefined)
      record.invalid('trigger_condition', 'is for campaigns of type EVENT_TRIGGERED');
    return undefined;
  }
  record.requires('trigger_condition');
  return triggerCondition.read(record, 'trigger_condition');
}

type Learnt = Pick<CampaignDefinition, 'variants' | 'goals'> & { deliveryType: CampaignDeliveryType | undefined };

/** Checks that the campaign has what its variations are to be learned from. */
function checkLearning(record: RequestReader, { variants, deliveryType, goals }: Learnt): void {
  const details = () => record.part('campaign_content').part('variation_details');
  if (variants?.learning && deliveryType === 'EVENT_TRIGGERED')
    details().invalid(
      'distribution_type',
      'must be MANUAL for a campaign of type EVENT_TRIGGERED: its runs are too small to learn from',
    );
  if (variants?.learning?.by === 'GOAL' && goals.length === 0)
    details().invalid('sherpa_metric', 'needs conversion_goal_details.goals');
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

/** Returns a reader for a part of a campaign's record; `path` is the path of the part in the record. */
export function makeDocumentReader(members: Record<string, unknown>, path = ''): RequestReader {
  return new RequestReader(members, { path, rules: documentRules });
}

/** Null, an empty text, an empty list and an empty object count as not sent, because clients fill forms with them. */
const documentRules: ReadingRules = {
  reports: 'all',
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
