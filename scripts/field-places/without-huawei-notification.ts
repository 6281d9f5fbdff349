import { gone } from './field-places.ts';
import type { Places } from './field-places.ts';

/** A Huawei message that only the app gets, next to one whose notification has a title and a text. */
export const withoutHuaweiNotification: Places = Object.fromEntries(
  ['title', 'body', 'tag', 'default_sound', 'click_action.type'].map((name) => [`android.notification.${name}`, gone]),
);
