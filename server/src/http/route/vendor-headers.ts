import type { IncomingHttpHeaders } from 'node:http';
import { prefixesOf, spellAbbreviation } from '../../domain/abbreviation.ts';

/**
 * Reads headers with the service's abbreviation in their names. Accepts both the configured abbreviation and the neutral
 * `SVC` (decision D2), the configured one first.
 */
export type VendorHeaders = {
  /** @param name with `*` for the abbreviation, for example `x-*-appkey` */
  read(headers: IncomingHttpHeaders, name: string): string | undefined;
  /** Returns the name that this service uses in responses, for example `x-svc-warning`. */
  nameOf(name: string): string;
  /** Replaces the neutral abbreviation in our own texts by the one of this service. */
  spell(words: string): string;
  /** The prefixes in attribute names such as `svc_push_opted`, lower-case. */
  prefixes: readonly string[];
};

export function makeVendorHeaders(abbreviation: string): VendorHeaders {
  const spellings = prefixesOf(abbreviation);
  return {
    prefixes: spellings,
    read(headers, name) {
      for (const spelling of spellings) {
        const value = headers[name.toLowerCase().replace('*', spelling)];
        if (typeof value === 'string') return value;
      }
      return undefined;
    },
    spell: (words) => spellAbbreviation(words, abbreviation),
    nameOf: (name) => name.toLowerCase().replace('*', spellings[0]!),
  };
}
