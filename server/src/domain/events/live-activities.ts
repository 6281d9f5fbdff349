import { liveEventHours } from '../limits/live-activities.ts';

export const liveEventKinds = ['start', 'update', 'end'] as const;
export type LiveEventKind = (typeof liveEventKinds)[number];

type Json = Record<string, unknown>;

/** What happens to a Live Activity. State and attributes are the app's own: its types decode exactly what was given. */
export type LiveEvent = {
  contentState: Json;
  alert?: { title: string; body: string };
  /** When the phone shows that it may be out of date, and when it takes it away; epoch seconds. */
  staleDate?: number;
  dismissalDate?: number;
  priority: 5 | 10;
} & (
  | { kind: 'start'; attributesType: string; attributes: Json; alert: { title: string; body: string } }
  | { kind: 'update' | 'end' }
);

/** The kind of token that an event goes to: a phone that is to start an activity has none of it yet. */
export const tokenKindOf = (kind: LiveEventKind): 'START' | 'UPDATE' => (kind === 'start' ? 'START' : 'UPDATE');

/** The body of the push (https://developer.apple.com/documentation/activitykit). A phone passes by what is not newer. Pure. */
export function writeLivePayload(event: LiveEvent, timestamp: number): string {
  const { alert, staleDate, dismissalDate } = event;
  return JSON.stringify({
    aps: {
      timestamp,
      event: event.kind,
      'content-state': event.contentState,
      ...(event.kind === 'start' ? { 'attributes-type': event.attributesType, attributes: event.attributes } : {}),
      // What was not said is not written: JSON has no place for `undefined`.
      ...{ alert, 'stale-date': staleDate, 'dismissal-date': dismissalDate },
    },
  });
}

/** The instant after which an event is not sent any more: what is out of date need not arrive. */
export function liveSendUntil({ staleDate }: Pick<LiveEvent, 'staleDate'>, at: Date): Date {
  const longest = at.getTime() + liveEventHours * 3_600_000;
  const stale = (staleDate ?? 0) * 1_000;
  return new Date(stale > at.getTime() ? Math.min(stale, longest) : longest);
}
