import type { RequestFault } from '../fields/reading-rules.ts';
import { maxTopicDescriptionCharacters, maxTopicKeyCharacters, maxTopicNameCharacters } from './limits/topics.ts';

/** A kind of message that users can leave or join. */
export type Topic = {
  /** The name in requests and campaigns. */
  key: string;
  /** Users read the name and the description. */
  name: string;
  description: string;
  /** True if users without a choice are in the topic. */
  isInByDefault: boolean;
  /** The order in lists; topics with equal numbers are sorted by key. */
  position: number;
};

/** The topic of a campaign, as its run needs it. */
export type CampaignTopic = { id: string; key: string; isInByDefault: boolean };

/** Where a user, or a server for the user, made a choice. */
export const choiceSources = ['API', 'APP', 'PAGE', 'CONSOLE', 'IMPORT'] as const;
export type ChoiceSource = (typeof choiceSources)[number];

/** An explicit choice of a user. A user without one follows the default of the topic. */
export type TopicChoice = { isIn: boolean; source: ChoiceSource; chosenAt: Date };

/** Why a campaign with a topic leaves a user out; values of `deliveries.code`. */
export const topicCodes = ['TOPIC_OPTED_OUT', 'TOPIC_NOT_OPTED_IN'] as const;
export type TopicCode = (typeof topicCodes)[number];

type Default = Pick<Topic, 'isInByDefault'>;

/** True if a user with this choice, or with none, is in the topic. */
export function isInTopic({ isInByDefault }: Default, choice: Pick<TopicChoice, 'isIn'> | undefined): boolean {
  return choice?.isIn ?? isInByDefault;
}

/** Returns why a campaign of the topic leaves the user out; undefined if the user is in it. */
export function topicRefusal(topic: Default, choice: Pick<TopicChoice, 'isIn'> | undefined): TopicCode | undefined {
  if (isInTopic(topic, choice)) return undefined;
  return choice ? 'TOPIC_OPTED_OUT' : 'TOPIC_NOT_OPTED_IN';
}

/**
 * Returns the choice that stays when two users become one: the newer one. Of two choices of the same instant, the one against the
 * topic stays, because a message that was not wanted does more harm than one that is missing.
 */
export function mergeChoices(one: TopicChoice, other: TopicChoice): TopicChoice {
  const difference = one.chosenAt.getTime() - other.chosenAt.getTime();
  if (difference !== 0) return difference > 0 ? one : other;
  return one.isIn ? other : one;
}

const keyForm = /^[a-z0-9][a-z0-9_-]*$/;

/** True if the text has the form of a key. A request cannot have a member with the name `constructor`, so no choice could name it. */
export function isTopicKey(text: string): boolean {
  return keyForm.test(text) && text !== 'constructor' && text.length <= maxTopicKeyCharacters;
}

/** The fault of a key that names no topic of the workspace. */
export function noSuchTopic(key: string): string {
  return `${key.slice(0, maxTopicKeyCharacters)} is not a topic of this workspace`;
}

/** Returns what is wrong with a topic, by the names of the request. */
export function findTopicFaults({ key, name, description }: Topic): RequestFault[] {
  const faults: RequestFault[] = [];
  if (!isTopicKey(key))
    faults.push({
      field: 'key',
      reason: `must have 1 to ${maxTopicKeyCharacters} lower-case letters, digits, - and _, begin with a letter or digit, and not be constructor`,
    });
  if (name.trim() === '' || name.length > maxTopicNameCharacters)
    faults.push({ field: 'name', reason: `must have 1 to ${maxTopicNameCharacters} characters` });
  if (description.length > maxTopicDescriptionCharacters)
    faults.push({ field: 'description', reason: `must have at most ${maxTopicDescriptionCharacters} characters` });
  return faults;
}
