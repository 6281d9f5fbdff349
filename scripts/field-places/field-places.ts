/**
 * The ways in which a message is built and sent: the three Android modes over FCM, a Huawei phone in its usual mode, an Amazon
 * device in mode `data`, an iPhone,
 * a browser whose service worker shows the message, and a browser that also gets a declarative notification.
 */
export const columns = ['data', 'notification', 'both', 'hms', 'adm', 'IOS', 'WEB', 'declarative'] as const;
export type Column = (typeof columns)[number];

/** A place in the request to a provider, such as `aps.badge` or `header apns-priority`, and its value. */
export type Places = Record<string, unknown>;

/**
 * One field of a push, and its places in the requests. A test sends each field and reads the requests that the simulators got.
 */
export type FieldPlaces = {
  /** Path as in the shape of the body: `[]` for an item, `*` for a name that the caller chooses. */
  field: string;
  /** The value, if different values have different places. */
  of?: string;
  /** The value that the test sends for the field. */
  sent: unknown;
  /** Other members that the field requires; the message that it is compared with has them too. */
  beside?: Record<string, unknown>;
  /** Members that change together with the field; undefined removes one. */
  also?: Record<string, unknown>;
  /** The complete difference from the message without the field. */
  places: Partial<Record<Column, Places>>;
  /**
   * Every mode then sends the message of this mode. The Huawei message has its data, as one text, and otherwise follows its own
   * places.
   */
  sameAs?: 'data' | 'notification' | 'both';
  /** The effect of the field that is not part of the message. */
  does?: string;
};

/** Returns the places of a field in one way of sending. Amazon's message has the parts of FCM's, unless the row names its places. */
export function placesIn({ places }: FieldPlaces, column: Column): Places {
  return places[column] ?? (column === 'adm' ? placesAtAmazon(places.data ?? {}) : {});
}

/** Returns the places in Amazon's message of what FCM's message has. */
export function placesAtAmazon(ofGoogle: Places): Places {
  return Object.fromEntries(
    Object.entries(ofGoogle).flatMap(([place, value]): [string, unknown][] => {
      if (place === 'data.svc_push_service') return [[place, value === gone ? gone : 'adm']];
      if (place.startsWith('data.')) return [[place, value]];
      if (place.startsWith('android.notification.')) return [[place.slice('android.'.length), value]];
      if (place === 'android.collapse_key') return [['consolidationKey', value]];
      if (place === 'android.priority') return [['priority', String(value).toLowerCase()]];
      return place === 'android.ttl' ? [['expiresAfter', Number.parseInt(String(value), 10)]] : [];
    }),
  );
}

/** The time at which the test sends. */
export const sentAt = new Date('2026-11-21T12:00:00Z');

export const epochSeconds = (time: string): number => Date.parse(time) / 1_000;

/** The value that is counted for every device. */
export const countedBadge = 7;

/** Placeholder for a text that the service generates. */
export const made = Symbol('made');

/** Placeholder for a value that exists only without the field. */
export const gone = Symbol('gone');
