import type { OwnContent } from '../campaigns/content-texts.ts';
import type { Platform } from '../campaigns/content.ts';
import type { BadgeChange, BadgeSetting, ContentOptions } from './content-options.ts';

type AnyOptions = Partial<ContentOptions['IOS'] & ContentOptions['WEB']>;

/** What a content does to the number on the app's icon; browsers have another name for it. */
export function badgeOf(content: OwnContent[Platform] | undefined): BadgeChange | undefined {
  const options = content?.options as AnyOptions | undefined;
  return options?.badge ?? options?.appBadge;
}

/** The content with the number that was counted for one device. */
export function withBadge<Content extends OwnContent[Platform]>(content: Content, badge: BadgeSetting): Content {
  const options = content.options as AnyOptions;
  return { ...content, options: { ...options, [options.badge === undefined ? 'appBadge' : 'badge']: badge } };
}
