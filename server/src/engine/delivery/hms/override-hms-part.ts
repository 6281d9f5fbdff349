import { mergePatch } from '../../../domain/provider-overrides/merge-patch.ts';
import { isObject } from '../../../domain/request-reader/request-reader.ts';
import type { AndroidMessage } from '../payload/android-part.ts';
import type { HmsPart } from './hms-part.ts';

/** The part with the caller's override, or why Huawei would not take it. A message without an override is left as it is. */
export function overrideHmsPart(part: HmsPart, { content }: AndroidMessage): object | { fault: string } {
  const patch = content.overrides?.hms;
  if (patch === undefined) return part;
  const merged = mergePatch(part, patch) as Record<string, unknown>;
  const { data = '', android = {} } = merged;
  if (typeof data !== 'string') return { fault: 'data is no text' };
  if (!isObject(android)) return { fault: 'android is no object' };
  return isObject(android.notification ?? {}) ? merged : { fault: 'android.notification is no object' };
}
