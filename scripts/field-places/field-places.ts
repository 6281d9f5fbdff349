/**
 * How a message is made and carried: Android's three modes by FCM, a phone of Huawei in its usual mode, an iPhone, a browser whose worker shows it, and one that is
 * given a declarative notification as well.
 */
export const columns = ['data', 'notification', 'both', 'hms', 'IOS', 'WEB', 'declarative'] as const;
export type Column = (typeof columns)[number];

/** A place in what a provider is sent, such as `aps.badge` or `header apns-priority`, and what stands there. */
export type Places = Record<string, unknown>;

/** One field of a push, and where it stands. A test sends each, and reads what the simulators got. */
export type FieldPlaces = {
  /** As in the shape of the body: `[]` for an item, `*` for a name of the caller's own. */
  field: string;
  /** Which of its values is meant, if they stand in different places. */
  of?: string;
  /** Put at the field. */
  sent: unknown;
  /** Members that the field needs beside it, in the message that it is compared with, too. */
  beside?: Record<string, unknown>;
  /** Members that change with it; undefined takes one away. */
  also?: Record<string, unknown>;
  /** What differs from the message without it: all of that, and nothing else. */
  places: Partial<Record<Column, Places>>;
  /** The message of every mode is that of this one then; Huawei's has its data, as one text, and is else as its places say. */
  sameAs?: 'data' | 'notification' | 'both';
  /** What the field does that does not travel. */
  does?: string;
};

/** When the test sends. */
export const sentAt = new Date('2026-11-21T12:00:00Z');

export const epochSeconds = (time: string): number => Date.parse(time) / 1_000;

/** What was counted for every device. */
export const countedBadge = 7;

/** Stands for a text that the service makes. */
export const made = Symbol('made');

/** Stands for what is there without the field, and not with it. */
export const gone = Symbol('gone');
