import { Type } from 'typebox';
import {
  androidOptions,
  campaignLocales,
  iosOptions,
  providerOverrides,
  webOptions,
} from '../content-option-shapes.ts';
import { flag, part, text, tree } from './shape-members.ts';
import { named } from '../openapi/named.ts';

const action = {
  default_click_action: text('DEEPLINKING, NAVIGATE_TO_A_SCREEN or RICH_LANDING'),
  default_click_action_value: text(),
  key_value_pairs: Type.Optional(Type.Array(Type.Object({ key: Type.String(), value: text() }))),
};
const template = {
  template_type: text('BASIC'),
  custom_template_id: text('Refused'),
  custom_template_version: text('Refused'),
};
const keys = { coupon_code: text(), sound_file: text(), group_key: text(), collapse_replace_key: text() };

const android = {
  ...template,
  options: androidOptions,
  basic_details: part({
    notification_channel: text(),
    title: text(),
    message: text(),
    summary: text(),
    image_url: text(),
    input_gif_url: text('Refused'),
    ...action,
  }),
  buttons: Type.Optional(
    Type.Array(
      Type.Object({
        btn_name: text(),
        click_action_type: text('call, snooze, copy or share'),
        click_action_value: text(),
        icon_url: text(),
      }),
      { maxItems: 2 },
    ),
  ),
  advanced: part({
    ...keys,
    make_notification_sticky: flag('false'),
    auto_dismiss_notification: Type.Optional(Type.Unsafe<unknown>({ description: 'Refused' })),
  }),
  timer: tree('Refused'),
};
const ios = {
  ...template,
  options: iosOptions,
  basic_details: part({
    title: text(),
    message: text(),
    subtitle: text(),
    allow_bg_refresh: flag('false'),
    rich_media_type: text('Image, Video, GIF or Audio'),
    rich_media_value: text(),
    ...action,
  }),
  buttons: Type.Optional(Type.Array(Type.Object({ button_category: text() }), { maxItems: 1 })),
  advanced: part({ ...keys, enable_ios_badge: flag() }),
  timer: tree('Refused'),
};
const web = {
  ...template,
  options: webOptions,
  basic_details: part({
    title: text(),
    message: text(),
    redirect_url: text(),
    image_url: text(),
    auto_dismiss_notification: flag(),
  }),
  buttons: Type.Optional(Type.Array(Type.Unsafe<unknown>({}), { description: 'Refused' })),
  advanced: part({ icon_image_type: text('ICON_URL'), icon_url: text() }),
  timer: tree('Refused'),
};
/** What a push shows on each platform (fact 6.2). */
export const pushContent = named(
  'CampaignPushContent',
  part({
    android: part({ ...android, template_backup: part(android) }),
    ios: part({ ...ios, template_backup: part(ios) }),
    web: part({ ...web, template_backup: part(web) }),
    locales: campaignLocales,
    providerOverrides,
  }),
);
