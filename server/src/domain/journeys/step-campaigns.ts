import { required, sentObject, texts } from '../../fields/combinators.ts';
import { schemaOf } from '../../fields/field.ts';
import type { Field } from '../../fields/field.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import { campaignDocument, readCampaign } from '../campaign-document/campaign.ts';
import type { CampaignParts } from '../campaign-document/campaign.ts';
import { platforms } from '../content/content.ts';
import { maxCampaignNameCharacters } from '../limits/campaigns.ts';

/** The parts of a campaign that the message of a step has. The others belong to the journey: who gets it, and when. */
const messageMembers = {
  platforms: required(texts({ description: platforms.join(', ') })),
  campaign_content: required(sentObject(campaignDocument.campaign_content.schema)),
  delivery_controls: sentObject(campaignDocument.delivery_controls.schema),
  advanced: sentObject(campaignDocument.advanced.schema),
  control_group_details: sentObject(campaignDocument.control_group_details.schema),
  conversion_goal_details: sentObject(campaignDocument.conversion_goal_details.schema),
  utm_params: sentObject(campaignDocument.utm_params.schema),
};

/** `message` of a send step: what is sent, as the parts of a campaign's record (fact 6.2). */
export const stepMessage: Field<Record<string, unknown>> = sentObject(
  schemaOf(messageMembers, {
    title: 'JourneyMessage',
    description: 'Platforms, content and delivery options, as in a campaign',
  }),
);

/** The event name of a step's campaign. Reading needs one; no event of a user starts the campaign. */
const trigger = {
  included_filters: { filter_operator: 'or', filters: [{ filter_type: 'actions', action_name: 'journey' }] },
  trigger_delay_type: 'ASAP',
};

export type StepMessage = { journey: string; step: { id: string; name: string | undefined }; message: object };

/** Returns the record of the campaign that sends a step's message: the message, with what the journey decides. */
export function campaignPartsOf({ journey, step, message }: StepMessage): CampaignParts {
  const { platforms: sentTo, ...parts } = message as Record<string, unknown>;
  const name = `${journey}: ${step.name ?? step.id}`;
  return {
    ...parts,
    channel: 'PUSH',
    campaign_delivery_type: 'EVENT_TRIGGERED',
    basic_details: { name: [...name].slice(0, maxCampaignNameCharacters).join(''), platforms: sentTo },
    trigger_condition: trigger,
    segmentation_details: { is_all_user_campaign: true },
    scheduling_details: { delivery_type: 'ASAP' },
  };
}

/** Returns the faults of a step's message, with paths below `path`. */
export function messageFaults(sent: StepMessage, path: string): RequestFault[] {
  const unknown = Object.keys(sent.message).filter((name) => !Object.hasOwn(messageMembers, name));
  const { faults } = readCampaign(campaignPartsOf(sent));
  return [
    ...unknown.map((name) => ({ field: `${path}.${name.slice(0, 50)}`, reason: 'is not a member of this object' })),
    ...stepFaults(faults, path),
  ];
}

/** Returns faults of a campaign's record as faults of the message that it was made of. */
export function stepFaults(faults: readonly RequestFault[], path: string): RequestFault[] {
  return faults.map(({ field, reason }) => ({ field: `${path}.${field.replace(/^basic_details\./, '')}`, reason }));
}
