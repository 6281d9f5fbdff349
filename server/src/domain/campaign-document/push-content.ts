import {
  anyObject,
  anything,
  flag,
  list,
  only,
  optional,
  part,
  partOrEmpty,
  parts,
  plain,
  readWith,
  refused,
  requiredPlain,
  requiredTemplate,
  template,
  templateUrl,
  word,
} from '../../fields/combinators.ts';
import { reading, withoutAbsent } from '../../fields/field.ts';
import type { Field, Fields, ReadMember } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { androidOptions, platforms, readIosOptions, webOptions, iosOptions } from '../content/content.ts';
import type {
  AndroidContent,
  CampaignContent,
  DefaultAction,
  IosContent,
  Platform,
  WebContent,
} from '../content/content.ts';
import { campaignLocales, readLocales } from '../content/locales.ts';
import { providerOverrides, readProviderOverrides, spreadOverrides } from '../content/overrides.ts';
import type { OwnContent } from '../content/texts.ts';
import { maxGroupKeyCharacters } from '../limits/push.ts';

const maxKey = 256;
const maxValue = 2_048;
const maxPairs = 100;
const webSchemes = ['https:', 'http:'];
const webUrl = templateUrl(webSchemes);

const actionTypes = {
  RICH_LANDING: 'richlanding',
  NAVIGATE_TO_A_SCREEN: 'navigation',
  DEEPLINKING: 'deeplinking',
} as const;

const pairMembers = { key: requiredPlain({ max: maxKey }), value: template() };

/** The texts of a content, all of which are required unless the campaign is a draft. */
const shownMembers = { title: optional(requiredTemplate()), message: optional(requiredTemplate()) };

/** The action of a click with its value and key-value pairs, which both require an action. */
const actionMembers = {
  default_click_action: word(
    Object.keys(actionTypes) as (keyof typeof actionTypes)[],
    'DEEPLINKING, NAVIGATE_TO_A_SCREEN or RICH_LANDING',
  ),
  default_click_action_value: template({ max: maxValue }),
  key_value_pairs: readWith<Record<string, string>>(parts(part(pairMembers), { max: maxPairs }), readPairs),
};

/** Layouts other than BASIC are rejected, and so are their members. */
const layoutMembers = {
  template_type: word(['BASIC'], 'BASIC'),
  custom_template_id: refused(),
  custom_template_version: refused(),
};

const keyMembers = {
  coupon_code: template({ max: maxValue }),
  sound_file: template({ max: maxValue }),
  group_key: readWith<string>(plain(), readGroupKey),
  collapse_replace_key: template({ max: maxKey }),
};

const androidButton = partOrEmpty(
  {
    btn_name: optional(requiredTemplate({ max: maxKey })),
    click_action_type: word(['call', 'snooze', 'copy', 'share'], 'call, snooze, copy or share'),
    click_action_value: template({ max: maxValue }),
    icon_url: webUrl,
  },
  {
    read(button, read): AndroidContent['additionalActions'][number] | undefined {
      button.requires('click_action_type');
      const type = read('click_action_type');
      // A call without a number, or a copy or share without a text, does nothing on the phone.
      if (type !== undefined && type !== 'snooze') button.requires('click_action_value');
      const iconUrl = read('icon_url');
      const name = read('btn_name');
      const value = read('click_action_value') ?? '';
      return type && { type, name, value, ...(iconUrl === undefined ? {} : { iconUrl }) };
    },
  },
);

const androidMembers = {
  ...layoutMembers,
  options: androidOptions,
  basic_details: part({
    notification_channel: plain({ max: maxKey }),
    ...shownMembers,
    summary: template(),
    image_url: webUrl,
    input_gif_url: refused(),
    ...actionMembers,
  }),
  buttons: parts(androidButton, { maxItems: 2 }),
  advanced: part({
    ...keyMembers,
    make_notification_sticky: only(false),
    auto_dismiss_notification: refused(anything),
  }),
  timer: refused(anyObject),
};

const mediaTypes = { Image: 'image', GIF: 'gif', Video: 'video', Audio: 'audio' } as const;

const iosButton = partOrEmpty(
  { button_category: optional(requiredPlain({ max: maxKey })) },
  { read: (_button, read) => ({ category: read('button_category') }) },
);

const iosMembers = {
  ...layoutMembers,
  options: iosOptions,
  basic_details: part({
    ...shownMembers,
    subtitle: template(),
    allow_bg_refresh: only(false),
    rich_media_type: word(Object.keys(mediaTypes) as (keyof typeof mediaTypes)[], 'Image, Video, GIF or Audio'),
    rich_media_value: webUrl,
    ...actionMembers,
  }),
  buttons: parts(iosButton, { maxItems: 1 }),
  advanced: part({ ...keyMembers, enable_ios_badge: flag() }),
  timer: refused(anyObject),
};

const webMembers = {
  ...layoutMembers,
  options: webOptions,
  basic_details: part({
    ...shownMembers,
    redirect_url: webUrl,
    image_url: templateUrl(['https:']),
    auto_dismiss_notification: flag(),
  }),
  buttons: refused(list(anything, { max: 1 })),
  // DEFAULT is not accepted, because a workspace has no icon.
  advanced: part({ icon_image_type: word(['ICON_URL'], 'ICON_URL'), icon_url: webUrl }),
  timer: refused(anyObject),
};

/** The content of a push on each platform (fact 6.2). */
export const pushContent = part(
  {
    android: withBackup(androidMembers, readAndroidContent),
    ios: withBackup(iosMembers, readIosContent),
    web: withBackup(webMembers, readWebContent),
    locales: campaignLocales,
    providerOverrides,
  },
  { title: 'CampaignPushContent' },
);

const documentNames = new Map(platforms.map((platform) => [platform.toLowerCase(), platform]));

type Reading = { targets: readonly Platform[]; isLocalized: boolean };

/** Reads the content of one push for the target platforms. */
export function readPush(push: RequestReader, { targets, isLocalized }: Reading): CampaignContent {
  const read = reading(push, pushContent.members);
  const content: CampaignContent = {};
  for (const platform of platforms) {
    const name = platform.toLowerCase();
    // A draft may have content before it has platforms.
    if (targets.length === 0 && push.get(name) === undefined) continue;
    if (targets.length > 0 && !targets.includes(platform)) {
      if (push.get(name) !== undefined) push.invalid(name, 'is not among basic_details.platforms');
      continue;
    }
    if (!push.requires(name)) continue;
    if (platform === 'ANDROID') content.ANDROID = read('android');
    else if (platform === 'IOS') content.IOS = read('ios');
    else content.WEB = read('web');
  }
  if (isLocalized && !push.isAbsent('locales'))
    push.invalid('locales', 'cannot be combined with campaign_content.locales');
  else readLocales(content, { payload: push, names: documentNames });
  spreadOverrides(content, readProviderOverrides(push, []));
  return content;
}

/** A content with its fallback, which is shown when the personalisation of the content fails for a user. */
function withBackup<F extends Fields, Content extends object>(
  members: F,
  readContent: (content: RequestReader, read: ReadMember<F>) => Content,
) {
  const own = partOrEmpty(members, { read: readContent });
  return partOrEmpty(
    { ...members, template_backup: own as Field<unknown> },
    {
      read(found): Content & { fallback?: Content } {
        const content = own.readIn(found);
        if (found.get('template_backup') === undefined) return content;
        const backup = found.part('template_backup');
        backup.refuse('template_backup');
        return { ...content, fallback: own.readIn(backup) };
      },
    },
  );
}

function refuseLayouts(read: ReadMember<typeof layoutMembers & { timer: Field<never> }>): void {
  read('template_type');
  for (const name of ['custom_template_id', 'custom_template_version', 'timer'] as const) read(name);
}

function readAndroidContent(content: RequestReader, read: ReadMember<typeof androidMembers>): OwnContent['ANDROID'] {
  refuseLayouts(read);
  const details = content.part('basic_details');
  const readDetail = reading(details, androidMembers.basic_details.members);
  const readKey = reading(content.part('advanced'), androidMembers.advanced.members);
  readDetail('input_gif_url');
  readKey('make_notification_sticky');
  readKey('auto_dismiss_notification');
  const summary = readDetail('summary');
  const channelId = readDetail('notification_channel');
  return {
    ...readTexts(readDetail),
    ...(summary === undefined ? {} : { summary }),
    ...(channelId === undefined ? {} : { channelId }),
    ...readKeys(readKey),
    richContent: [
      ...item('image', readDetail('image_url')),
      ...item('coupon', readKey('coupon_code')),
      ...item('sound', readKey('sound_file')),
    ],
    ...readDefaultAction(details, readDetail),
    additionalActions: read('buttons') ?? [],
    ...withoutAbsent<Pick<AndroidContent, 'options'>>({ options: read('options') }),
  };
}

function readIosContent(content: RequestReader, read: ReadMember<typeof iosMembers>): OwnContent['IOS'] {
  refuseLayouts(read);
  const details = content.part('basic_details');
  const readDetail = reading(details, iosMembers.basic_details.members);
  const readKey = reading(content.part('advanced'), iosMembers.advanced.members);
  readDetail('allow_bg_refresh');
  const subtitle = readDetail('subtitle');
  const media = readDetail('rich_media_type');
  const mediaUrl = readDetail('rich_media_value');
  const enableBadge = readKey('enable_ios_badge') ?? false;
  const additionalActions = read('buttons') ?? [];
  if ((media === undefined) !== (mediaUrl === undefined))
    details.requires(media === undefined ? 'rich_media_type' : 'rich_media_value');
  return {
    ...readTexts(readDetail),
    ...(subtitle === undefined ? {} : { subtitle }),
    ...readKeys(readKey),
    enableBadge,
    richContent: [
      ...(media === undefined ? [] : item(mediaTypes[media], mediaUrl)),
      ...item('coupon', readKey('coupon_code')),
      ...item('sound', readKey('sound_file')),
    ],
    ...readDefaultAction(details, readDetail),
    additionalActions,
    ...withoutAbsent<Pick<IosContent, 'options'>>({
      options: readIosOptions(content, { enablesBadge: enableBadge, hasCategory: additionalActions.length > 0 }),
    }),
  };
}

function readWebContent(content: RequestReader, read: ReadMember<typeof webMembers>): OwnContent['WEB'] {
  refuseLayouts(read);
  read('buttons');
  const [details, advanced] = [content.part('basic_details'), content.part('advanced')];
  const readDetail = reading(details, webMembers.basic_details.members);
  const readIcon = reading(advanced, webMembers.advanced.members);
  readIcon('icon_image_type');
  details.requires('redirect_url');
  advanced.requires('icon_url');
  const imageUrl = readDetail('image_url');
  return {
    ...readTexts(readDetail),
    redirectUrl: readDetail('redirect_url') ?? '',
    iconUrl: readIcon('icon_url') ?? '',
    ...(imageUrl === undefined ? {} : { imageUrl }),
    autoDismiss: readDetail('auto_dismiss_notification') ?? false,
    ...withoutAbsent<Pick<WebContent, 'options'>>({ options: read('options') }),
  };
}

function readTexts(read: ReadMember<typeof shownMembers>): { message: string; title: string } {
  return { message: read('message'), title: read('title') };
}

function readKeys(read: ReadMember<typeof keyMembers>): { groupKey?: string; collapseReplaceKey?: string } {
  return withoutAbsent({ groupKey: read('group_key'), collapseReplaceKey: read('collapse_replace_key') });
}

/** At most 45 ASCII letters and digits; other letters, special characters and spaces are dropped (fact 3.3). */
function readGroupKey(advanced: RequestReader, name: string): string | undefined {
  const key = advanced
    .plain(name)
    ?.replace(/[^A-Za-z0-9]/g, '')
    .slice(0, maxGroupKeyCharacters);
  return key === '' ? undefined : key;
}

function item<Type extends string>(type: Type, value: string | undefined): { type: Type; value: string }[] {
  return value === undefined ? [] : [{ type, value }];
}

function readDefaultAction(
  details: RequestReader,
  read: ReadMember<typeof actionMembers>,
): { defaultAction?: DefaultAction } {
  const sentType = read('default_click_action');
  const value = read('default_click_action_value');
  const keyValuePairs = read('key_value_pairs') ?? {};
  if (sentType === undefined) {
    for (const name of ['default_click_action_value', 'key_value_pairs'])
      if (details.get(name) !== undefined) details.invalid(name, 'needs default_click_action');
    return {};
  }
  if (value === undefined) details.requires('default_click_action_value');
  return { defaultAction: { type: actionTypes[sentType], value: value ?? '', keyValuePairs } };
}

function readPairs(details: RequestReader, name: string): Record<string, string> {
  const keyValuePairs: Record<string, string> = {};
  for (const pair of details.parts(name, maxPairs)) {
    const read = reading(pair, pairMembers);
    const key = read('key');
    if (Object.hasOwn(keyValuePairs, key)) pair.invalid('key', 'appears twice');
    keyValuePairs[key] = read('value') ?? '';
  }
  return keyValuePairs;
}
