import { mergePatch } from '../../../domain/provider-overrides/merge-patch.ts';
import { isOwnKey } from '../../../domain/provider-overrides/read-provider-overrides.ts';
import { isObject } from '../../../domain/request-reader/request-reader.ts';
import type { AndroidMessage, AndroidPart } from '../payload/android-part.ts';

/** What a caller's patch may have left of it. */
export type OverriddenPart = Pick<AndroidPart, 'data'> & { android?: Partial<AndroidPart['android']> };

/** The part with the caller's override, or why FCM would not take it. A message without an override is left as it is. */
export function overrideAndroidPart(
  part: AndroidPart,
  { content, payload }: AndroidMessage,
): OverriddenPart | { fault: string } {
  const patch = content.overrides?.fcm;
  if (patch === undefined) return part;
  const merged = mergePatch(part, patch) as Record<string, unknown>;
  const { data = {}, android = {} } = merged;
  if (!isObject(android)) return { fault: 'android is no object' };
  if (!isObject(android.notification ?? {})) return { fault: 'android.notification is no object' };
  if (!isObject(data)) return { fault: 'data is no object' };
  const wrong = Object.keys(data).find((name) => typeof data[name] !== 'string');
  if (wrong !== undefined) return { fault: `data.${wrong} is no text` };
  // The prefix may have become another since the message was accepted.
  const own = Object.keys(patch.data ?? {}).find((name) => isOwnKey(name, [payload.dataPrefix]));
  if (own !== undefined) return { fault: `data.${own} cannot be set` };
  return merged as OverriddenPart;
}
