import type { DeviceState } from './device-state.ts';

/** What a device is suspected of: answers that usually mean a dead address, in so many sends. */
export type Suspicion = {
  /** The provider's word in the last send. */
  code: string;
  sends: number;
  since: Date;
  lastAt: Date;
};

/** Sends with such an answer, and the hours between the first and the last, before a device leaves the audience. */
export const suspicionSends = 3;
export const suspicionHours = 72;
/** A host whose name did not resolve counts once in this many hours: its operator may mend it within a day. */
export const unresolvedHours = 24;

const hourMilliseconds = 3_600_000;

/** The suspicion after another send. Pure. */
export function nextSuspicion(last: Suspicion | undefined, { code, at }: { code: string; at: Date }): Suspicion {
  if (!last) return { code, sends: 1, since: at, lastAt: at };
  const isTooSoon =
    code === 'HOST_NOT_FOUND' && at.getTime() - last.lastAt.getTime() < unresolvedHours * hourMilliseconds;
  if (isTooSoon) return last;
  // The table keeps a small number; more sends change nothing.
  return { ...last, code, sends: Math.min(last.sends + 1, 1_000), lastAt: at };
}

/** True if a device leaves the audience: enough sends over enough time (decision 0064). Pure. */
export function isDroppedSuspect({ sends, since, lastAt }: Suspicion): boolean {
  return sends >= suspicionSends && lastAt.getTime() - since.getTime() >= suspicionHours * hourMilliseconds;
}

/** A suspicion, and whether its device has left the audience because of it. */
export type ToldSuspicion = Suspicion & { hasLeft: boolean };

/**
 * What is said of a suspicion: nothing if a message was accepted since, because then the next strike is the first one again.
 * A device that was called dead for another reason is not told of here. Pure.
 */
export function tellSuspicion(
  { code, sends, since, lastAt }: Suspicion,
  { state, isRecovered }: { state: DeviceState; isRecovered: boolean },
): ToldSuspicion | null {
  const hasLeft = isDroppedSuspect({ code, sends, since, lastAt });
  if (isRecovered || (state === 'GONE' && !hasLeft)) return null;
  return { code, sends, since, lastAt, hasLeft };
}
