import type { PayloadMode } from './android-payload.ts';
import type { AndroidContent } from './content.ts';

/** A member of an Android content that its mode does not show, under its name in a push and in words. */
export type LostMember = { field: string; words: string };

/**
 * What a person does not get of a message while the app is in the background: whatever the system shows itself has no
 * buttons, no group, no summary and no coupon, and a tap starts the app as its icon does. Pure.
 */
export function lostInMode(content: Omit<AndroidContent, 'fallback'>, mode: PayloadMode): LostMember[] {
  if (mode === 'data') return [];
  const lost: LostMember[] = [];
  const lose = (isUsed: boolean, field: string, words: string): void => {
    if (isUsed) lost.push({ field, words });
  };
  lose(content.additionalActions.length > 0, 'additionalActions', 'buttons');
  lose(content.groupKey !== undefined, 'groupKey', 'the group');
  lose(content.summary !== undefined, 'summary', 'the summary');
  lose(
    content.richContent.some(({ type }) => type === 'coupon'),
    'richContent',
    'the coupon',
  );
  lose(content.defaultAction !== undefined, 'defaultAction', 'what a tap opens');
  const { options = {} } = content;
  lose(options.timeoutSeconds !== undefined, 'options.timeoutSeconds', 'the time after which it goes away');
  lose(options.badge?.operation === 'clear', 'options.badge', 'the cleared badge');
  return lost;
}
