/** Why a one-time link opens nothing; the sign-in page has a sentence for each. */
export const linkFaults = ['expired', 'used', 'withdrawn', 'unknown'] as const;
export type LinkFault = (typeof linkFaults)[number];

/** How a link ended before its time; the words of the table. */
export type LinkEnd = 'USED' | 'WITHDRAWN';

type PresentedLink = { purpose: string; expiresAt: Date; endedAs: LinkEnd | null };

/**
 * Returns why a link opens nothing, or undefined for one that works. A link that was made for another purpose is unknown:
 * it would do something that its page did not announce. Pure.
 */
export function findLinkFault(
  link: PresentedLink | undefined,
  { purpose, at }: { purpose: string; at: Date },
): LinkFault | undefined {
  if (link?.purpose !== purpose) return 'unknown';
  if (link.endedAs !== null) return link.endedAs === 'USED' ? 'used' : 'withdrawn';
  return link.expiresAt <= at ? 'expired' : undefined;
}
