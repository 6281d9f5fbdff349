import { createHash } from 'node:crypto';

export const interactionKinds = ['impression', 'click', 'close'] as const;

/** What happened to a message on its device: it was shown, clicked, or closed without a click. */
export type InteractionKind = (typeof interactionKinds)[number];

/** The same as it is stored. */
export type StoredInteractionKind = 'IMPRESSION' | 'CLICK' | 'CLOSE';

/**
 * Distinguishes a report from a repetition of it: the name the device gave it. Reports without a name count as one, so
 * a device that cannot generate names may repeat safely.
 */
export function reportDigest(reportId: string | undefined): Buffer {
  return createHash('sha256')
    .update(reportId ?? '')
    .digest()
    .subarray(0, 12);
}
