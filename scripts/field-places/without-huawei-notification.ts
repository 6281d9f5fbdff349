import { gone } from './field-places.ts';
import type { Places } from './field-places.ts';

/** A message of Huawei's whose app alone gets it, beside one whose notification is a title and a text. */
export const withoutHuaweiNotification: Places = Object.fromEntries(
  ['title', 'body', 'tag', 'default_sound', 'click_action.type'].map((name) => [`android.notification.${name}`, gone]),
);
