import type { CampaignBody } from '@carillon/client';
import type { ComposerResources, LocalTimeCount } from '../../api/generated/composer.ts';
import { platformNames } from '../../parts/text/platform-names.ts';
import {
  audienceKind,
  excludedSegments,
  includedOperator,
  includedSegments,
  namedUsers,
} from '../audience/audience.ts';
import type { Reached } from '../audience/audience-count-card.tsx';
import { languageName } from '../content/languages.ts';
import { localesOf, sharesOf, variationCount } from '../content/variants.ts';
import { listAt, platformPath, platformsOf, readAt, textAt } from '../campaign-body.ts';
import type { CampaignForm } from '../campaign-form.ts';
import type { Platform } from '../campaign-body.ts';
import type { Step } from '../steps.ts';
import { exceptionSentences, occurrenceText } from '../schedule/describe-times.ts';
import { scheduling, timingKind } from '../schedule/timing.ts';
import { formatDay } from '../../parts/text/format-time.ts';

type Described = { step: Exclude<Step, 'review'>; sentences: string[] };
type Counted = Reached | undefined;

/** Describes a campaign in sentences. */
export function describeCampaign(
  form: CampaignForm,
  { counted, localTimes }: { counted: Counted; localTimes: LocalTimeCount | undefined },
): Described[] {
  return [
    { step: 'audience', sentences: audienceSentences(form, counted) },
    { step: 'content', sentences: [...contentSentences(form.body), ...variantSentences(form.body)] },
    {
      step: 'schedule',
      sentences: [...scheduleSentences(form, localTimes), ...controlSentences(form.body), ...goalSentences(form.body)],
    },
  ];
}

const number = (value: number) => value.toLocaleString('en');
const list = (words: string[], last: 'and' | 'or') =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)!}`;

function audienceSentences({ body, check, resources }: CampaignForm, counted: Counted): string[] {
  const names = list(
    platformsOf(body).map((platform) => platformNames[platform]),
    'and',
  );
  const who = whoIsMeant(body, check?.audienceText ?? undefined);
  const inbox = inboxSentences[textAt(body, 'advanced.inbox.send_to')];
  return [
    `It goes to ${who}, on ${names || 'no platform yet'}.`,
    ...topicSentences(body, resources),
    ...(counted ? [countSentence(counted)] : []),
    ...(inbox === undefined ? [] : [inbox]),
  ];
}

function topicSentences(body: CampaignBody, { topics }: ComposerResources): string[] {
  const key = body.advanced?.topic;
  if (typeof key !== 'string' || key === '') return [];
  const topic = topics.find((one) => one.key === key);
  if (!topic) return [`Its topic ${key} was removed.`];
  return [
    topic.isInByDefault
      ? `People who left the topic “${topic.name}” do not get it.`
      : `Only people who joined the topic “${topic.name}” get it.`,
  ];
}

function countSentence({ users, reached, devices, outsideTopic }: Reached): string {
  const text = `That is ${number(users)} ${users === 1 ? 'person' : 'people'}; ${number(reached)} of them would be reached now`;
  // The count does not say which of the devices belong to users outside the topic.
  if (outsideTopic > 0) return `${text}.`;
  return `${text}, on ${number(devices)} ${devices === 1 ? 'device' : 'devices'}.`;
}

const inboxSentences: Record<string, string> = {
  BOTH: 'It is also kept in the inbox of everyone, with or without a device.',
  EITHER: 'It is kept in the inbox of people whom no push reaches.',
  INBOX: 'It is kept in the inbox of everyone and is not pushed.',
};

function whoIsMeant(body: CampaignBody, audienceText: string | undefined): string {
  const without = list(
    (excludedSegments(body) ?? []).map(({ name }) => `“${name}”`),
    'or',
  );
  const but = without === '' ? '' : ` but not in ${without}`;
  switch (audienceKind(body)) {
    case 'all':
      return `everyone${but}`;
    case 'segments': {
      const segments = includedSegments(body).map(({ name }) => `“${name}”`);
      const joined = list(segments, includedOperator(body));
      return segments.length === 0 ? 'no one yet' : `people in ${joined}${but}`;
    }
    case 'users':
      return `the ${namedUsers(body).length === 1 ? 'person' : 'people'} ${list(namedUsers(body), 'and')}`;
    case 'filters':
      return `people who match its filters (${audienceText ?? 'made through the API'})`;
  }
}

function contentSentences(body: CampaignBody): string[] {
  return platformsOf(body).map((platform) => contentSentence(body, platform));
}

function variantSentences(body: CampaignBody): string[] {
  const count = variationCount(body);
  const shares = sharesOf(body);
  const [, ...languages] = localesOf(body);
  return [
    ...(count === 1
      ? []
      : [
          shares === undefined
            ? `It has ${count} variations; more people get the better one.`
            : `It has ${count} variations, for ${list(
                shares.map((share) => `${share} %`),
                'and',
              )} of the people; the first one is described here.`,
        ]),
    ...(languages.length === 0
      ? []
      : [`People who read ${list(languages.map(languageName), 'or')} get it in their language.`]),
  ];
}

function contentSentence(body: CampaignBody, platform: Platform): string {
  const base = platformPath({ body }, platform);
  const of = (name: string) => textAt(body, `${base}.${name}`);
  const buttons = listAt(body, `${base}.buttons`).length;
  const extras = [
    of('basic_details.image_url') !== '' || of('basic_details.rich_media_value') !== ''
      ? 'an image, video or sound'
      : '',
    buttons > 0 ? `${buttons} ${buttons === 1 ? 'button' : 'buttons'}` : '',
    readAt(body, `${base}.template_backup`) === undefined ? '' : 'a fallback',
  ].filter((word) => word !== '');
  const to = of('basic_details.default_click_action_value') || of('basic_details.redirect_url');
  const title = of('basic_details.title');
  const shown = title === '' ? 'has no title yet' : `shows “${title}”`;
  return [
    `${platformNames[platform]} ${shown}`,
    extras.length > 0 ? `, with ${list(extras, 'and')}` : '',
    to === '' ? '; a click opens the app.' : `; a click opens ${to}.`,
  ].join('');
}

function scheduleSentences({ body, check }: CampaignForm, localTimes: LocalTimeCount | undefined): string[] {
  const occurrences = check?.schedule?.occurrences ?? [];
  const [first] = occurrences;
  const at = first ? occurrenceText(first) : 'at a time that is still missing';
  const atBestHour = textAt(body, `${scheduling}.delivery_type`).toUpperCase() === 'SEND_IN_BTS';
  const own = atBestHour ? ', and to everyone at the hour after it at which they open messages' : '';
  const exceptions = first ? exceptionSentences(first, localTimes) : [];
  switch (timingKind(body)) {
    case 'now':
      return ['It is sent at once.'];
    case 'once':
      return [`It is sent once, ${at}${own}.`, ...exceptions];
    case 'periodic': {
      const then = occurrences.slice(1).map(({ local }) => `${formatDay(local.date)} at ${local.time}`);
      const after =
        then.length === 0
          ? ' and not again'
          : `, then ${list(then, 'and')}${occurrences.length < 3 ? '' : ', and so on'}`;
      return [`It is sent first ${at}${own}${after}.`, ...exceptions];
    }
    case 'event':
      return [`It is sent whenever “${textAt(body, 'basic_details.business_event') || 'an event'}” happens.`];
  }
}

function controlSentences(body: CampaignBody): string[] {
  const is = (name: string) => readAt(body, `delivery_controls.${name}`) === true;
  const passes = [
    is('bypass_dnd') ? 'quiet hours' : '',
    is('ignore_frequency_capping') ? 'frequency caps' : '',
    is('ignore_global_minimum_delay') ? 'the minimum delay' : '',
  ].filter((word) => word !== '');
  const throttle = textAt(body, 'delivery_controls.campaign_throttle_rpm');
  return [
    ...(passes.length > 0 ? [`It ignores ${list(passes, 'and')}.`] : []),
    ...(throttle === '' ? [] : [`It goes to at most ${number(Number(throttle))} devices a minute.`]),
  ];
}

function goalSentences(body: CampaignBody): string[] {
  const names = listAt<{ goal_name?: string; goal_event_name?: string }>(body, 'conversion_goal_details.goals').map(
    ({ goal_name: name, goal_event_name: event }) => `“${name ?? ''}” (${event ?? ''})`,
  );
  return names.length === 0 ? ['It has no goal.'] : [`It counts ${list(names, 'and')} as success.`];
}
