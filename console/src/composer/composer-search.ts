import { textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';
import { steps } from './steps.ts';
import type { Step } from './steps.ts';

/** The step, and whose eyes the previews are seen with. */
export type ComposerSearch = { step?: Step; as?: string };

export function readComposerSearch(search: AddressSearch): ComposerSearch {
  const step = textOf(search.step);
  const as = textOf(search.as);
  return {
    ...(step !== undefined && step in steps ? { step: step as Step } : {}),
    ...(as === undefined ? {} : { as }),
  };
}
