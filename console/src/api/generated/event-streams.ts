// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type ConsoleEventStream = {
  id: string;
  url: string;
  events: ('delivered' | 'clicked' | 'cleared' | 'control_group')[];
  userAttributes: string[];
  deviceAttributes: (
    'platform' | 'device_id' | 'app_id' | 'model' | 'app_version' | 'os_version' | 'locale' | 'push_id'
  )[];

  /** In batches that the receiver took. */
  deliveredEvents: number;
  lastDeliveredAt: string | null;
  pendingBatches: number;

  /** Given up; they can be sent again. */
  deadBatches: number;

  /** Since when the receiver has not answered. */
  silentSince: string | null;

  /** Nothing is posted until then, because the receiver does not answer. */
  pausedUntil: string | null;
  createdAt: string;
};

export type DeadEventBatch = {
  id: string;
  events: number;
  firstEventAt: string;

  /** Since it was made or sent again. */
  attempts: number;

  /** Null: no answer came. */
  lastStatus: number | null;
  lastError: string | null;
  endedAt: string;
};

export type DeadEventBatchList = {
  batches: DeadEventBatch[];

  /** The `after` of the next page. */
  next: string | null;
};

export type EventStreamList = {
  streams: ConsoleEventStream[];
};
