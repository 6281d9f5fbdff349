import type { ContentOptions, LocKeys, OfferedAction } from './content-options.ts';
import type { ChangeText } from '../campaigns/text-place.ts';
import type { Platform } from '../campaigns/content.ts';
import type { Schemes } from '../request-reader/address-fault.ts';

const maxTitle = 64;
const maxValue = 2_048;
const maxArgument = 1_024;

/** Options with their personalized texts replaced: buttons, addresses, arguments. The rest is the same for every user. */
export function changeOptionTexts<P extends Platform>(
  options: ContentOptions[P] | undefined,
  { change, buttonsOpen }: { change: ChangeText; buttonsOpen: Schemes },
): { options?: ContentOptions[P] } {
  if (options === undefined) return {};
  const { locKeys, additionalActions, badgeURL } = options as Partial<ContentOptions['WEB'] & ContentOptions['IOS']>;
  const badge =
    badgeURL === undefined
      ? undefined
      : change(badgeURL, { field: 'options.badgeURL', longest: maxValue, schemes: ['https:'], isRequired: false });
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
                longest: maxArgument,
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
        : change(iconURL, { field: `${at}.iconURL`, longest: maxValue, schemes: ['https:'], isRequired: false });
    return {
      action,
      title: change(title, { field: `${at}.title`, longest: maxTitle, isRequired: true })!,
      url: change(url, { field: `${at}.url`, longest: maxValue, schemes: buttonsOpen, isRequired: true })!,
      ...(icon === undefined ? {} : { iconURL: icon }),
    };
  });
}
