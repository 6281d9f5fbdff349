import type { OwnContent } from '../campaigns/content-texts.ts';
import { readAndroidOptions, readIosOptions, readWebOptions } from '../content-options/read-content-options.ts';
import { readDefaultAction } from './read-default-action.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';
import { maxGroupKeyCharacters } from '../push/limits.ts';

const maxKey = 256;

/** Layouts other than BASIC, and what belongs to them. */
function refuseLayouts(part: RequestReader): void {
  part.choice('template_type', ['BASIC']);
  part.refuse('custom_template_id', 'custom_template_version', 'timer');
}

export function readAndroidContent(part: RequestReader): OwnContent['ANDROID'] {
  refuseLayouts(part);
  const [details, advanced] = [part.part('basic_details'), part.part('advanced')];
  details.refuse('input_gif_url');
  advanced.only(false, 'make_notification_sticky');
  advanced.refuse('auto_dismiss_notification');
  const summary = details.template('summary');
  const channelId = details.plain('notification_channel', maxKey);
  return {
    ...readTexts(details),
    ...(summary === undefined ? {} : { summary }),
    ...(channelId === undefined ? {} : { channelId }),
    ...readKeys(advanced),
    richContent: [
      ...item('image', details.templateUrl('image_url', ['https:', 'http:'])),
      ...item('coupon', advanced.template('coupon_code', 2_048)),
      ...item('sound', advanced.template('sound_file', 2_048)),
    ],
    ...readDefaultAction(details),
    additionalActions: part.parts('buttons', 2).flatMap((button) => {
      button.requires('click_action_type');
      const type = button.choice('click_action_type', ['call', 'snooze', 'copy', 'share']);
      const iconUrl = button.templateUrl('icon_url', ['https:', 'http:']);
      const name = button.requiredTemplate('btn_name', maxKey);
      const value = button.template('click_action_value', 2_048) ?? '';
      return type === undefined ? [] : [{ type, name, value, ...(iconUrl === undefined ? {} : { iconUrl }) }];
    }),
    ...readAndroidOptions(part),
  };
}

const mediaTypes = { Image: 'image', GIF: 'gif', Video: 'video', Audio: 'audio' } as const;

export function readIosContent(part: RequestReader): OwnContent['IOS'] {
  refuseLayouts(part);
  const [details, advanced] = [part.part('basic_details'), part.part('advanced')];
  details.only(false, 'allow_bg_refresh');
  const subtitle = details.template('subtitle');
  const media = details.choice('rich_media_type', Object.keys(mediaTypes) as (keyof typeof mediaTypes)[]);
  const mediaUrl = details.templateUrl('rich_media_value', ['https:', 'http:']);
  const enableBadge = advanced.flag('enable_ios_badge') ?? false;
  const additionalActions = part
    .parts('buttons', 1)
    .map((button) => ({ category: button.requiredPlain('button_category', maxKey) }));
  if ((media === undefined) !== (mediaUrl === undefined))
    details.requires(media === undefined ? 'rich_media_type' : 'rich_media_value');
  return {
    ...readTexts(details),
    ...(subtitle === undefined ? {} : { subtitle }),
    ...readKeys(advanced),
    enableBadge,
    richContent: [
      ...(media === undefined ? [] : item(mediaTypes[media], mediaUrl)),
      ...item('coupon', advanced.template('coupon_code', 2_048)),
      ...item('sound', advanced.template('sound_file', 2_048)),
    ],
    ...readDefaultAction(details),
    additionalActions,
    ...readIosOptions(part, { enablesBadge: enableBadge, hasCategory: additionalActions.length > 0 }),
  };
}

export function readWebContent(part: RequestReader): OwnContent['WEB'] {
  refuseLayouts(part);
  part.refuse('buttons');
  const [details, advanced] = [part.part('basic_details'), part.part('advanced')];
  // There is no icon of the workspace that DEFAULT could mean.
  advanced.choice('icon_image_type', ['ICON_URL']);
  details.requires('redirect_url');
  advanced.requires('icon_url');
  const imageUrl = details.templateUrl('image_url', ['https:']);
  return {
    ...readTexts(details),
    redirectUrl: details.templateUrl('redirect_url', ['https:', 'http:']) ?? '',
    iconUrl: advanced.templateUrl('icon_url', ['https:', 'http:']) ?? '',
    ...(imageUrl === undefined ? {} : { imageUrl }),
    autoDismiss: details.flag('auto_dismiss_notification') ?? false,
    ...readWebOptions(part),
  };
}

function readTexts(details: RequestReader): { message: string; title: string } {
  return { message: details.requiredTemplate('message'), title: details.requiredTemplate('title') };
}

function readKeys(advanced: RequestReader): { groupKey?: string; collapseReplaceKey?: string } {
  // At most 45 ASCII letters and digits; other letters, specials and spaces are dropped (fact 3.3).
  const groupKey = advanced
    .plain('group_key')
    ?.replace(/[^A-Za-z0-9]/g, '')
    .slice(0, maxGroupKeyCharacters);
  const collapseReplaceKey = advanced.template('collapse_replace_key', maxKey);
  return {
    ...(groupKey === undefined || groupKey === '' ? {} : { groupKey }),
    ...(collapseReplaceKey === undefined ? {} : { collapseReplaceKey }),
  };
}

function item<Type extends string>(type: Type, value: string | undefined): { type: Type; value: string }[] {
  return value === undefined ? [] : [{ type, value }];
}
