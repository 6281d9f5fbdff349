import { androidFields } from './android-fields.ts';
import { iosFields } from './ios-fields.ts';
import { overrideFields } from './override-fields.ts';
import { settingFields } from './setting-fields.ts';
import { webFields } from './web-fields.ts';

/** Every field of a push. A test compares the list with the shape of the body, and each row with the bytes that are sent. */
export const everyField = [...androidFields, ...iosFields, ...webFields, ...overrideFields, ...settingFields];
