import { headerFault } from '../../domain/content/overrides.ts';

type Headers = Record<string, string>;
/** Null removes a header. */
type ChangedHeaders = Record<string, string | null>;

/** Returns why a rendered header cannot be sent; undefined if all can be sent. */
export function findHeaderFault(provider: 'apns' | 'webpush', changed: ChangedHeaders): string | undefined {
  for (const [name, value] of Object.entries(changed)) {
    const reason = value === null ? undefined : headerFault(provider, { name, value });
    if (reason !== undefined) return `${name} ${reason}`;
  }
  return undefined;
}

/** Returns the headers with the caller's override, which for Apple's topic is only a suffix. */
export function overrideHeaders(changed: ChangedHeaders, headers: Headers): Headers {
  const merged = new Map(Object.entries(headers));
  for (const [name, value] of Object.entries(changed)) {
    if (value === null) merged.delete(name);
    else merged.set(name, name === 'apns-topic' ? `${merged.get(name)}${value}` : value);
  }
  return Object.fromEntries(merged);
}
