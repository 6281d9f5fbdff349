// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { Platform } from './shape-parts.ts';

/** What decided whether a person got a campaign. `step` is a word for programs, `explanation` a sentence for people. */
export type DeliveryExplanation = {
  campaign: {
    id: string;
    name: string;
    status: string;
    statusReason: string | null;
    nextAt: string | null;
  };
  customerId: string;

  /** Of the newest run; `NO_RUN` or `UNKNOWN_PERSON` where there is none. */
  step: string;
  explanation: string;

  /** Newest first, at most 20. */
  runs: {
    runId: string;
    runStatus: string;
    createdAt: string;
    step: string;
    explanation: string;
    devices: {
      /** The app's name of the device; null when it is there no more. */
      deviceId: string | null;
      platform: Platform;
      step: string;
      explanation: string;

      /** The provider's word, or why it was held. */
      code: string | null;
      attempts: number;
      at: string | null;

      /** Until when it waits. */
      until: string | null;

      /** Why the device may leave the audience, or has left it; null where that decided nothing. */
      suspicion: {
        /** By which the device is kept. */
        id: string;
        code: string;
        sends: number;
        since: string;
        lastAt: string;
        hasLeft: boolean;
      } | null;

      /** variation_1 and so on; null where the campaign has one. */
      variation: string | null;

      /** default or a language tag; null where there is one. */
      locale: string | null;
    }[];
  }[];
};
