import type { ChangeText } from '../campaigns/text-place.ts';
import { maxOverrideBytes } from '../content-options/limits.ts';
import type { JsonValue, ProviderOverrides } from './provider-overrides.ts';

/** Overrides with their personalized texts replaced, at every depth. */
export function changeOverrideTexts(
  overrides: ProviderOverrides | undefined,
  change: ChangeText,
): { overrides?: ProviderOverrides } {
  if (overrides === undefined) return {};
  return { overrides: changeJson(overrides as JsonValue, { path: 'providerOverrides', change }) as ProviderOverrides };
}

function changeJson(value: JsonValue, { path, change }: { path: string; change: ChangeText }): JsonValue {
  if (typeof value === 'string')
    return change(value, { field: path, longest: maxOverrideBytes, isRequired: false }) ?? '';
  if (Array.isArray(value)) return value.map((item, index) => changeJson(item, { path: `${path}[${index}]`, change }));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, changeJson(item, { path: `${path}.${name}`, change })]),
  );
}
