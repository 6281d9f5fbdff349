import type { DefaultAction } from '../campaigns/content.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';

const actionTypes = {
  RICH_LANDING: 'richlanding',
  NAVIGATE_TO_A_SCREEN: 'navigation',
  DEEPLINKING: 'deeplinking',
} as const;

/** The action of a click, with its key-value pairs; the one needs the other. */
export function readDefaultAction(details: RequestReader): { defaultAction?: DefaultAction } {
  const words = Object.keys(actionTypes) as (keyof typeof actionTypes)[];
  const word = details.choice('default_click_action', words);
  const value = details.template('default_click_action_value', 2_048);
  const keyValuePairs: Record<string, string> = {};
  for (const pair of details.parts('key_value_pairs', 100)) {
    const key = pair.requiredPlain('key', 256);
    if (Object.hasOwn(keyValuePairs, key)) pair.invalid('key', 'appears twice');
    keyValuePairs[key] = pair.template('value') ?? '';
  }
  if (word === undefined) {
    for (const name of ['default_click_action_value', 'key_value_pairs'])
      if (details.get(name) !== undefined) details.invalid(name, 'needs default_click_action');
    return {};
  }
  if (value === undefined) details.requires('default_click_action_value');
  return { defaultAction: { type: actionTypes[word], value: value ?? '', keyValuePairs } };
}
