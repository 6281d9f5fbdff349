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

  /** The step in the newest run; `NO_RUN` or `UNKNOWN_PERSON` if there is no run. */
  step: string;
  explanation: string;

  /** Newest first, at most 20. */
  runs: {
    runId: string;
    runStatus: string;
    createdAt: string;
    step: string;
    explanation: string;

    /** The message in the person's inbox; null if the run kept none. */
    inbox: {
      keptAt: string;
      expiresAt: string;
      readAt: string | null;
      archivedAt: string | null;
    } | null;
    devices: {
      /** The app's name for the device; null if the device was removed. */
      deviceId: string | null;
      platform: Platform;
      step: string;
      explanation: string;

      /** The provider's code, or the reason why the message was held. */
      code: string | null;
      attempts: number;
      at: string | null;

      /** The time until which the message waits. */
      until: string | null;

      /** Why the device may leave the audience or has left it; null if this did not affect the message. */
      suspicion: {
        /** The id with which the device can be kept. */
        id: string;
        code: string;
        sends: number;
        since: string;
        lastAt: string;
        hasLeft: boolean;
      } | null;

      /** `variation_1` and so on; null if the campaign has only one. */
      variation: string | null;

      /** `default` or a language tag; null if the campaign has only one locale. */
      locale: string | null;
    }[];
  }[];
};
