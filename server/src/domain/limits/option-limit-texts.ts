import type * as contentOptions from '../content-options/limits.ts';
import type { LimitTexts } from './limit-text.ts';

/** `options` of a content. */
export const optionLimitTexts: { 'content-options': LimitTexts<typeof contentOptions> } = {
  'content-options': {
    maxOfferedActions: {
      what: 'Buttons of `options.additionalActions`',
      unit: 'buttons',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxActionNameCharacters: {
      what: 'Characters of the name of such a button in reports',
      unit: 'characters',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxActionTitleCharacters: {
      what: 'Characters of its caption',
      unit: 'characters',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxBadge: {
      what: 'Highest number of a badge',
      unit: 'count',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxBadgeIncrement: {
      what: 'What a message may add to it',
      unit: 'count',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxLocArgs: {
      what: 'Arguments of a text that the app looks up',
      unit: 'texts',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxTimeoutSeconds: {
      what: '`options.timeoutSeconds`: one week',
      unit: 'seconds',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxVibrateSteps: {
      what: 'Steps of `options.vibrate`',
      unit: 'steps',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxVibrateMilliseconds: {
      what: 'Length of such a step',
      unit: 'milliseconds',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxOverrideBytes: {
      what: 'Each object of `payload.providerOverrides`, as JSON',
      unit: 'bytes',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxOverrideDepth: {
      what: 'Objects and lists within each other there',
      unit: 'count',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxLocales: {
      what: 'Languages of `payload.locales`',
      unit: 'languages',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
  },
};
