// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type ConsoleEventStream = {
  id: string;
  url: string;

  /** Null: batches are posted to `url`. Otherwise `url` is a bucket. */
  objectStore: {
    region: string;
    keyId: string;
  } | null;
  events: ('delivered' | 'clicked' | 'cleared' | 'control_group')[];
  userAttributes: string[];
  deviceAttributes: (
    'platform' | 'device_id' | 'app_id' | 'model' | 'app_version' | 'os_version' | 'locale' | 'push_id'
  )[];

  /** Events in batches that the receiver accepted. */
  deliveredEvents: number;
  lastDeliveredAt: string | null;
  pendingBatches: number;

  /** Batches without further attempts; they can be sent again. */
  deadBatches: number;

  /** The time since which the receiver has not responded. */
  silentSince: string | null;

  /** The time until which nothing is posted, because the receiver does not respond. */
  pausedUntil: string | null;
  createdAt: string;
};

export type DeadEventBatch = {
  id: string;
  events: number;
  firstEventAt: string;

  /** The number of attempts since the batch was created or last sent again. */
  attempts: number;

  /** Null if there was no response. */
  lastStatus: number | null;
  lastError: string | null;
  endedAt: string;
};

export type DeadEventBatchList = {
  batches: DeadEventBatch[];

  /** The value of `after` for the next page. */
  next: string | null;
};

export type EventStreamList = {
  streams: ConsoleEventStream[];
};
