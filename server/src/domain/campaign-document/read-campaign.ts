import type { CampaignDeliveryType } from '../campaigns/campaign-search.ts';
import type { CampaignContent } from '../campaigns/content.ts';
import type { ConversionGoal } from '../campaigns/conversion-goal.ts';
import type { DeliverySettings } from '../campaigns/delivery-settings.ts';
import type { RequestFault } from '../errors.ts';
import type { Variants } from '../experiments/variants.ts';
import { readTriggerCondition } from '../triggers/read-trigger-condition.ts';
import type { ReadTrigger } from '../triggers/read-trigger-condition.ts';
import type { TriggerCondition } from '../triggers/trigger-condition.ts';
import { makeDocumentReader } from './document-reader.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';
import { unavailable } from '../request-reader/reading-rules.ts';
import { readAudienceLimit } from './read-audience-limit.ts';
import { readBasicDetails } from './read-basic-details.ts';
import type { BasicDetails } from './read-basic-details.ts';
import { readControlGroups } from './read-control-groups.ts';
import { readAdvanced, readDeliveryControls } from './read-delivery.ts';
import { readGoals } from './read-goals.ts';
import { readPushContent } from './read-push-content.ts';
import { readSchedule } from './read-schedule.ts';
import type { Schedule } from './read-schedule.ts';
import { readSegmentation } from './read-segmentation.ts';
import type { CampaignAudience } from './read-segmentation.ts';

/** The parts of a campaign's record, as they were sent (fact 6.2): what a draft keeps and what search shows. */
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

/** What this version creates; the documented others are refused by name. */
export const authoredDeliveryTypes = ['ONE_TIME', 'PERIODIC', 'EVENT_TRIGGERED', 'BUSINESS_EVENT_TRIGGERED'] as const;
export type AuthoredDeliveryType = (typeof authoredDeliveryTypes)[number];

/** A campaign whose every member is true, though nobody looked at the clock or into the database yet. */
export type CampaignDefinition = BasicDetails & {
  deliveryType: AuthoredDeliveryType;
  /** The first of several. */
  content: CampaignContent;
  /** Null: everybody gets the same. */
  variants: Variants | null;
  audience: CampaignAudience;
  schedule: Schedule;
  goals: ConversionGoal[];
  /** Of a campaign that events of users start. */
  trigger: TriggerCondition | undefined;
  settings: DeliverySettings;
};

export type ReadCampaign = {
  /** Of a draft anything may be wrong or absent. */
  basics: BasicDetails;
  deliveryType: CampaignDeliveryType | undefined;
  definition: CampaignDefinition | undefined;
  /** What is absent has the reason `missing`. */
  faults: RequestFault[];
  /** Members of filters that nobody knows (decision D5). */
  unknownFields: string[];
};

/** Reads a campaign of the push channel. Every documented member that is not carried out is a fault by its name. */
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

/** Parts that have no effect here; those that switch something off are accepted. */
function refuseParts(part: RequestReader): void {
  part.refuse('connector', 'sender_name');
  if (part.get('utm_params') !== undefined) part.invalid('utm_params', unavailable);
}

/** If a part is absent, its members are absent too; only the part is named. */
function withoutRepeats(faults: RequestFault[]): RequestFault[] {
  const missing = new Set(faults.filter(({ reason }) => reason === 'missing').map(({ field }) => field));
  return faults.filter(({ field, reason }) => {
    if (reason !== 'missing') return true;
    const parents = field.split('.').map((_name, index, names) => names.slice(0, index).join('.'));
    return !parents.some((parent) => missing.has(parent));
  });
}
