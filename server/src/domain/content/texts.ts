import { maxOverrideBytes } from '../limits/push.ts';
import type { Schemes } from '../../fields/request-reader.ts';
import type {
  AndroidContent,
  DefaultAction,
  IosContent,
  Platform,
  WebContent,
  ContentOptions,
  LocKeys,
  OfferedAction,
  JsonValue,
  ProviderOverrides,
} from './content.ts';

/** The content that is shown in one language, without the fallback. */
export type OwnContent = {
  ANDROID: Omit<AndroidContent, 'fallback' | 'locales'>;
  IOS: Omit<IosContent, 'fallback' | 'locales'>;
  WEB: Omit<WebContent, 'fallback' | 'locales'>;
};

const maxText = 4_096;
const maxValueCharacters = 2_048;
const maxName = 256;
const web = ['https:', 'http:'];

/**
 * Returns the content with its personalized texts replaced: visible texts, values, web addresses and the collapse key.
 * Everything else is the same for every user, because it names a part of the app, such as a channel or a category.
 */
export function changeTexts<P extends Platform>(
  platform: P,
  { content, change }: { content: OwnContent[P]; change: ChangeText },
): OwnContent[P] {
  switch (platform) {
    case 'ANDROID':
      return changeAndroid(content as OwnContent['ANDROID'], change) as OwnContent[P];
    case 'IOS':
      return changeIos(content as OwnContent['IOS'], change) as OwnContent[P];
    case 'WEB':
      return changeWeb(content as OwnContent['WEB'], change) as OwnContent[P];
    default:
      throw new Error(`unknown platform ${String(platform)}`);
  }
}

function changeAndroid(content: OwnContent['ANDROID'], change: ChangeText): OwnContent['ANDROID'] {
  const { summary: _summary, ...rest } = content;
  return {
    ...rest,
    ...changeOptionTexts<'ANDROID'>(content.options, { change, buttonsOpen: web }),
    ...changeOverrideTexts(content.overrides, change),
    ...changeShown(content, change),
    ...optional('summary', { text: content.summary, change, maxLength: maxText }),
    ...changeShared(content, change),
    additionalActions: content.additionalActions.map(({ iconUrl, ...action }, index) => {
      const at = `additionalActions[${index}]`;
      const icon = iconUrl === undefined ? undefined : change(iconUrl, optionalUrl(`${at}.iconUrl`));
      return {
        ...action,
        name: change(action.name, { field: `${at}.name`, maxLength: maxName, isRequired: action.name !== '' })!,
        value: change(action.value, {
          field: `${at}.value`,
          maxLength: maxValueCharacters,
          isRequired: action.value !== '',
        })!,
        ...(icon === undefined ? {} : { iconUrl: icon }),
      };
    }),
  };
}

function changeIos(content: OwnContent['IOS'], change: ChangeText): OwnContent['IOS'] {
  const { subtitle: _subtitle, ...rest } = content;
  return {
    ...rest,
    ...changeOptionTexts<'IOS'>(content.options, { change, buttonsOpen: 'web and apps' }),
    ...changeOverrideTexts(content.overrides, change),
    ...changeShown(content, change),
    ...optional('subtitle', { text: content.subtitle, change, maxLength: maxText }),
    ...changeShared(content, change),
  };
}

function changeWeb(content: OwnContent['WEB'], change: ChangeText): OwnContent['WEB'] {
  const { imageUrl: image, ...rest } = content;
  const imageUrl = image === undefined ? undefined : change(image, { ...optionalUrl('imageUrl'), schemes: ['https:'] });
  // An absent address has no text to change. A rendered address must not be empty.
  const urlUnlessAbsent = (field: 'redirectUrl' | 'iconUrl'): string =>
    content[field] === ''
      ? ''
      : change(content[field], { field, maxLength: maxValueCharacters, schemes: web, isRequired: true })!;
  return {
    ...rest,
    ...changeOptionTexts<'WEB'>(content.options, { change, buttonsOpen: web }),
    ...changeOverrideTexts(content.overrides, change),
    ...changeShown(content, change),
    redirectUrl: urlUnlessAbsent('redirectUrl'),
    iconUrl: urlUnlessAbsent('iconUrl'),
    ...(imageUrl === undefined ? {} : { imageUrl }),
  };
}

function changeShown(content: { title: string; message: string }, change: ChangeText) {
  return {
    title: change(content.title, { field: 'title', maxLength: maxText, isRequired: true })!,
    message: change(content.message, { field: 'message', maxLength: maxText, isRequired: true })!,
  };
}

type Shared<Type extends string> = {
  collapseReplaceKey?: string;
  richContent: { type: Type; value: string }[];
  defaultAction?: DefaultAction;
};

function changeShared<Type extends string>(content: Shared<Type>, change: ChangeText) {
  const { defaultAction: action, collapseReplaceKey: key } = content;
  return {
    ...(key === undefined
      ? {}
      : { collapseReplaceKey: change(key, { field: 'collapseReplaceKey', maxLength: maxName, isRequired: true })! }),
    // An image whose text is empty for this user is left out.
    richContent: content.richContent.flatMap(({ type, value: given }, index) => {
      const place = { field: `richContent[${index}].value`, maxLength: maxValueCharacters, isRequired: false };
      const value = change(given, place);
      return value === undefined ? [] : [{ type, value }];
    }),
    ...(action ? { defaultAction: changeAction(action, change) } : {}),
  };
}

function changeAction({ type, value, keyValuePairs }: DefaultAction, change: ChangeText): DefaultAction {
  return {
    type,
    value: change(value, { field: 'defaultAction.value', maxLength: maxValueCharacters, isRequired: true })!,
    keyValuePairs: Object.fromEntries(
      Object.entries(keyValuePairs).map(([name, pair]) => [
        name,
        change(pair, { field: `defaultAction.keyValuePairs.${name}`, maxLength: maxText, isRequired: false }) ?? '',
      ]),
    ),
  };
}

function optionalUrl(field: string): TextPlace {
  return { field, maxLength: maxValueCharacters, schemes: web, isRequired: false };
}

function optional<Name extends string>(
  name: Name,
  { text, change, maxLength }: { text: string | undefined; change: ChangeText; maxLength: number },
): Partial<Record<Name, string>> {
  const changed = text === undefined ? undefined : change(text, { field: name, maxLength, isRequired: false });
  return changed === undefined ? {} : ({ [name]: changed } as Record<Name, string>);
}

const maxTitle = 64;
const maxArgument = 1_024;

/** Returns options with personalized texts replaced: buttons, addresses, arguments. The rest is the same for every user. */
export function changeOptionTexts<P extends Platform>(
  options: ContentOptions[P] | undefined,
  { change, buttonsOpen }: { change: ChangeText; buttonsOpen: Schemes },
): { options?: ContentOptions[P] } {
  if (options === undefined) return {};
  const { locKeys, additionalActions, badgeURL } = options as Partial<ContentOptions['WEB'] & ContentOptions['IOS']>;
  const badge =
    badgeURL === undefined
      ? undefined
      : change(badgeURL, {
          field: 'options.badgeURL',
          maxLength: maxValueCharacters,
          schemes: ['https:'],
          isRequired: false,
        });
  const { badgeURL: _badge, ...rest } = options as ContentOptions['WEB'];
  return {
    options: {
      ...rest,
      ...(badge === undefined ? {} : { badgeURL: badge }),
      ...(locKeys === undefined ? {} : { locKeys: changeArguments(locKeys, change) }),
      ...(additionalActions === undefined
        ? {}
        : { additionalActions: changeActions(additionalActions, { change, buttonsOpen }) }),
    } as ContentOptions[P],
  };
}

function changeArguments(keys: LocKeys, change: ChangeText): LocKeys {
  return Object.fromEntries(
    Object.entries(keys).map(([name, value]) => [
      name,
      Array.isArray(value)
        ? value.map(
            (argument, index) =>
              change(argument, {
                field: `options.locKeys.${name}[${index}]`,
                maxLength: maxArgument,
                isRequired: false,
              }) ?? '',
          )
        : value,
    ]),
  );
}

function changeActions(
  actions: readonly OfferedAction[],
  { change, buttonsOpen }: { change: ChangeText; buttonsOpen: Schemes },
): OfferedAction[] {
  return actions.map(({ action, title, url, iconURL }, index) => {
    const at = `options.additionalActions[${index}]`;
    const icon =
      iconURL === undefined
        ? undefined
        : change(iconURL, {
            field: `${at}.iconURL`,
            maxLength: maxValueCharacters,
            schemes: ['https:'],
            isRequired: false,
          });
    return {
      action,
      title: change(title, { field: `${at}.title`, maxLength: maxTitle, isRequired: true })!,
      url: change(url, { field: `${at}.url`, maxLength: maxValueCharacters, schemes: buttonsOpen, isRequired: true })!,
      ...(icon === undefined ? {} : { iconURL: icon }),
    };
  });
}

/** Returns overrides with their personalized texts replaced, at every depth. */
function changeOverrideTexts(
  overrides: ProviderOverrides | undefined,
  change: ChangeText,
): { overrides?: ProviderOverrides } {
  if (overrides === undefined) return {};
  return { overrides: changeJson(overrides as JsonValue, { path: 'providerOverrides', change }) as ProviderOverrides };
}

function changeJson(value: JsonValue, { path, change }: { path: string; change: ChangeText }): JsonValue {
  if (typeof value === 'string')
    return change(value, { field: path, maxLength: maxOverrideBytes, isRequired: false }) ?? '';
  if (Array.isArray(value)) return value.map((item, index) => changeJson(item, { path: `${path}[${index}]`, change }));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, changeJson(item, { path: `${path}.${name}`, change })]),
  );
}

/** A member whose text may differ between users, and the requirements for the text. */
export type TextPlace = {
  /** As in `richContent[0].value`. */
  field: string;
  maxLength: number;
  /** Absent: any text is accepted. */
  schemes?: Schemes;
  isRequired: boolean;
};

/** @returns the text for that member; undefined to leave an optional member empty */
type ChangeText = (text: string, place: TextPlace) => string | undefined;
