import { liveEventHours } from '../limits/push.ts';

export const liveEventKinds = ['start', 'update', 'end'] as const;
export type LiveEventKind = (typeof liveEventKinds)[number];

type Json = Record<string, unknown>;

/** An event of a Live Activity. The app defines state and attributes: its types decode exactly what was given. */
export type LiveEvent = {
  contentState: Json;
  alert?: { title: string; body: string };
  /** When the phone shows that the activity may be out of date, and when it removes it; epoch seconds. */
  staleDate?: number;
  dismissalDate?: number;
  priority: 5 | 10;
} & (
  | { kind: 'start'; attributesType: string; attributes: Json; alert: { title: string; body: string } }
  | { kind: 'update' | 'end' }
);

/** Returns the kind of token that an event is sent to. Before the start, a phone has no token of the activity. */
export const tokenKindOf = (kind: LiveEventKind): 'START' | 'UPDATE' => (kind === 'start' ? 'START' : 'UPDATE');

/** Returns the push body (https://developer.apple.com/documentation/activitykit). A phone ignores older events. Pure. */
export function writeLivePayload(event: LiveEvent, timestamp: number): string {
  const { alert, staleDate, dismissalDate } = event;
  return JSON.stringify({
    aps: {
      timestamp,
      event: event.kind,
      'content-state': event.contentState,
      ...(event.kind === 'start' ? { 'attributes-type': event.attributesType, attributes: event.attributes } : {}),
      // Absent members are not written, because JSON has no `undefined`.
      ...{ alert, 'stale-date': staleDate, 'dismissal-date': dismissalDate },
    },
  });
}

/** Returns the instant after which an event is no longer sent, because an outdated event need not arrive. */
export function liveSendUntil({ staleDate }: Pick<LiveEvent, 'staleDate'>, at: Date): Date {
  const longest = at.getTime() + liveEventHours * 3_600_000;
  const stale = (staleDate ?? 0) * 1_000;
  return new Date(stale > at.getTime() ? Math.min(stale, longest) : longest);
}
