import { headerFault } from '../../domain/content/overrides.ts';

type Headers = Record<string, string>;
/** Null takes a header away. */
type ChangedHeaders = Record<string, string | null>;

/** Why a rendered header cannot be sent. */
export function findHeaderFault(provider: 'apns' | 'webpush', changed: ChangedHeaders): string | undefined {
  for (const [name, value] of Object.entries(changed)) {
    const reason = value === null ? undefined : headerFault(provider, { name, value });
    if (reason !== undefined) return `${name} ${reason}`;
  }
  return undefined;
}

/** The headers with those of the caller's override. Of Apple's topic that is the end alone. */
export function overrideHeaders(changed: ChangedHeaders, headers: Headers): Headers {
  const merged = new Map(Object.entries(headers));
  for (const [name, value] of Object.entries(changed)) {
    if (value === null) merged.delete(name);
    else merged.set(name, name === 'apns-topic' ? `${merged.get(name)}${value}` : value);
  }
  return Object.fromEntries(merged);
}
