import type { IncomingHttpHeaders } from 'node:http';
import { prefixesOf, spellAbbreviation } from '../../domain/abbreviation.ts';

/**
 * Reads headers whose names carry the service's abbreviation. The configured abbreviation and the neutral `SVC` are
 * both accepted (decision D2), the configured one first.
 */
export type VendorHeaders = {
  /** @param name with `*` for the abbreviation, for example `x-*-appkey` */
  read(headers: IncomingHttpHeaders, name: string): string | undefined;
  /** The name under which this service answers, for example `x-svc-warning`. */
  nameOf(name: string): string;
  /** Our own words, in which names are written with the neutral abbreviation, with that of this service. */
  spell(words: string): string;
  /** The spellings in attribute names such as `svc_push_opted`, lower-case. */
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
