import type { LimitWindow } from '../access/rate-limits.ts';

// Deliveries

/**
 * Attempts to send to one device, all within the message's time to live (fault F5).
 * Unit: attempts per message. Exceeded: The delivery ends as `FAILED`.
 */
export const maxDeliveryAttempts = 8;

/**
 * Messages to one Firebase project (delivery 1).
 * Unit: messages a minute per provider account. Exceeded: Messages wait.
 */
export const fcmMessagesPerMinute = 600_000;

/**
 * Messages that Chrome allows a site it considers noisy, for days (delivery 3).
 * Unit: messages a minute per provider account. Exceeded: Messages wait.
 */
export const noisySiteMessagesPerMinute = 1_000;

// Delivery log

/**
 * Rows of a file that the console exports from the delivery log.
 * Unit: rows per file. Exceeded: The file ends there.
 * Larger exports belong in the data warehouse.
 */
export const maxExportedDeliveries = 10_000;

// Reports of impressions and clicks

/**
 * Reports, counted in each process: with one token, from one address, and with unknown tokens from one address.
 * Unit: reports per source address. Exceeded: INTERACTION_RATE_LIMITED.
 * These are bursts, replenished evenly over the time. A device reports a message a few times. Many users may share an
 * address, and a campaign reaches them in the same minute. Reports with a token that this installation did not issue
 * are counted separately, so that they do not use up the limit of genuine ones.
 */
export const reportLimits = {
  token: { events: 30, seconds: 60 },
  address: { events: 3_000, seconds: 60 },
  unknownToken: { events: 600, seconds: 60 },
} as const satisfies Record<string, LimitWindow>;

/**
 * Reports of one kind that count for a device in one run.
 * Unit: reports per device. Exceeded: Further reports are not counted.
 * No user clicks a message more often.
 */
export const maxReports = 100;

/** Body of a report. Unit: bytes per request. Exceeded: BODY_TOO_LARGE. A report has about 300 bytes. */
export const maxReportBodyBytes = 4 * 1024;

// Callbacks and emails

/**
 * Delays before the second to the seventh attempt of a callback (decision D27).
 * Unit: seconds per callback. Exceeded: It is given up, and can be sent again by hand.
 */
export const callbackRetrySeconds: readonly number[] = [30, 60, 120, 600, 3_600, 21_600];

/**
 * Delays before the second to the fourth attempt of an email.
 * Unit: seconds per email. Exceeded: It has failed, and can be sent again by hand.
 */
export const emailRetrySeconds: readonly number[] = [60, 600, 3_600];

/**
 * Email addresses that receive the alerts of a workspace.
 * Unit: addresses per workspace. Exceeded: PARAMETER_INVALID.
 */
export const maxAlertEmails = 10;

/**
 * Time for which a callback or a batch of events is postponed because its receiver does not respond.
 * Unit: hours per message. Exceeded: It is given up, and can be sent again by hand.
 * Postponing uses up no attempt. The time counts from when the next attempt was due, and is far longer than the whole
 * retry schedule (decision D27).
 */
export const maxPausedHours = 24;

/**
 * Consecutive attempts without a response that pause a receiver.
 * Unit: attempts per receiver. Exceeded: Messages to the receiver wait.
 * One or two may be a restart of the receiver. The third indicates that the next attempt would also hold a slot for its
 * whole time limit.
 */
export const failuresBeforePause = 3;

/**
 * First pause of a receiver that does not respond.
 * Unit: seconds per receiver. Exceeded: One message is sent as a probe.
 * Each probe without a response doubles the pause.
 */
export const firstPauseSeconds = 5;

/**
 * Longest pause of a receiver that does not respond.
 * Unit: seconds per receiver. Exceeded: One message is sent as a probe.
 * It is half of the shortest wait before a fourth attempt of a callback (decision D27), so a pause never delays the
 * schedule of a receiver that gets one callback.
 */
export const maxPauseSeconds = 60;

/**
 * Time that a probe of a paused receiver may take.
 * Unit: seconds per probe. Exceeded: Another message is sent as a probe.
 * An attempt ends within 15 s (fault F24), so the probe of a dead node does not block the receiver.
 */
export const probeSeconds = 20;

// Event streams

/** Event streams of a workspace. Unit: streams per workspace. Exceeded: EVENT_STREAM_LIMITED. */
export const maxEventStreams = 5;
/** Events that are posted together (fact 7). Unit: events per batch. Exceeded: Further events form another batch. */
export const maxEventsPerBatch = 100;
/**
 * Events in one object of an object store. Unit: events per object. Exceeded: Further events form another object.
 * Stores bill each request, and programs that read them are slow with many small objects.
 */
export const maxEventsPerObject = 1_000;

/**
 * Delays before the second to the fourth attempt of a batch of events (fact 7).
 * Unit: seconds per batch. Exceeded: It is given up, and can be sent again by hand.
 */
export const eventBatchRetrySeconds: readonly number[] = [30, 60, 120];

/**
 * User attributes that an event stream names.
 * Unit: attributes per event stream. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxStreamedAttributes = 50;
