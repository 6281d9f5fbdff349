import type * as devices from '../devices/limits.ts';
import type * as events from '../events/limits.ts';
import type * as users from '../users/limits.ts';
import type { LimitTexts } from './limit-text.ts';

/** Users with their events and devices. */
export const userLimitTexts: {
  users: LimitTexts<typeof users>;
  events: LimitTexts<typeof events>;
  devices: LimitTexts<typeof devices>;
} = {
  users: {
    userUpdatesPerMinute: {
      what: 'Users sent one by one',
      unit: 'users a minute',
      per: 'workspace',
      whenReached: 'DATA_RATE_LIMITED',
      source: 'fact 5',
    },
    batchUsersPerMinute: {
      what: 'Users and devices of bulk requests',
      unit: 'users a minute',
      per: 'workspace',
      whenReached: 'DATA_RATE_LIMITED',
      source: 'fact 5',
    },
    exportedUsersPerMinute: {
      what: 'Users asked for',
      unit: 'users a minute',
      per: 'workspace',
      whenReached: 'DATA_RATE_LIMITED',
      source: 'fact 5',
    },
    mergesPerMinute: {
      what: 'Merges',
      unit: 'merges a minute',
      per: 'workspace',
      whenReached: 'DATA_RATE_LIMITED',
      source: 'fact 5',
    },
    deletionsPerMinute: {
      what: 'Deletions',
      unit: 'users a minute',
      per: 'workspace',
      whenReached: 'DATA_RATE_LIMITED',
      source: 'fact 5',
    },
    connectionTestsPerMinute: {
      what: 'Tests of the connection',
      unit: 'requests a minute',
      per: 'workspace',
      whenReached: 'DATA_RATE_LIMITED',
      source: 'ours',
    },
    maxExportedUsers: {
      what: 'Users that one request asks for',
      unit: 'users',
      per: 'request',
      whenReached: 'DATA_LIMIT_BREACHED',
      source: 'fact 5',
    },
    maxMergedUsers: {
      what: 'Pairs that one request merges',
      unit: 'pairs',
      per: 'request',
      whenReached: 'DATA_LIMIT_BREACHED',
      source: 'fact 5',
    },
    maxAttributeNameCharacters: {
      what: 'Longest name of an attribute; how many a user has is not limited',
      unit: 'characters',
      per: 'value',
      whenReached: 'DATA_VALUE_INVALID',
      source: 'ours',
    },
    maxCustomerIdBytes: {
      what: 'Longest customer id',
      unit: 'bytes',
      per: 'value',
      whenReached: 'DATA_VALUE_INVALID',
      source: 'ours',
    },
    maxIdentifierBytes: {
      what: 'Longest value by which a user is found',
      unit: 'bytes',
      per: 'value',
      whenReached: 'The value is stored and identifies nobody.',
      source: 'decision D23',
    },
    maxDataBodyBytes: {
      what: 'Body of a request of the data family and of a cohort',
      unit: 'bytes',
      per: 'request',
      whenReached: 'BODY_TOO_LARGE',
      source: 'fact 5',
    },
    maxBatchBodyBytes: {
      what: 'Body of a bulk request',
      unit: 'bytes',
      per: 'request',
      whenReached: 'BODY_TOO_LARGE',
      source: 'fact 5',
    },
    erasureDelayHours: {
      what: 'A deleted user is erased after',
      unit: 'hours',
      per: 'user',
      whenReached: 'The user is erased.',
      source: 'ours',
      setting: 'CARILLON_ERASURE_DELAY_HOURS',
    },
  },
  events: {
    eventsPerMinute: {
      what: 'Events sent one by one',
      unit: 'events a minute',
      per: 'workspace',
      whenReached: 'DATA_RATE_LIMITED',
      source: 'fact 5',
    },
    batchEventsPerMinute: {
      what: 'Events of bulk requests',
      unit: 'events a minute',
      per: 'workspace',
      whenReached: 'DATA_RATE_LIMITED',
      source: 'fact 5',
    },
    maxEventNameCharacters: {
      what: 'Longest name of an event',
      unit: 'characters',
      per: 'value',
      whenReached: 'DATA_VALUE_INVALID',
      source: 'ours',
    },
    maxAppVersionCharacters: {
      what: 'Longest version of an app',
      unit: 'characters',
      per: 'value',
      whenReached: 'DATA_VALUE_INVALID',
      source: 'ours',
    },
    maxOffsetSeconds: {
      what: 'Largest distance from UTC',
      unit: 'seconds',
      per: 'value',
      whenReached: 'DATA_VALUE_INVALID',
      source: 'fact 5',
    },
  },
  devices: {
    deviceUpdatesPerMinute: {
      what: 'Devices sent one by one',
      unit: 'devices a minute',
      per: 'workspace',
      whenReached: 'DATA_RATE_LIMITED',
      source: 'fact 5',
    },
    deviceBlocksPerMinute: {
      what: 'Devices blocked or let in again',
      unit: 'devices a minute',
      per: 'workspace',
      whenReached: 'DATA_RATE_LIMITED',
      source: 'fact 5',
    },
    maxBlockedDevices: {
      what: 'Devices that one request blocks',
      unit: 'devices',
      per: 'request',
      whenReached: 'DATA_VALUE_INVALID',
      source: 'ours',
    },
    maxBlockReasonCharacters: {
      what: 'Longest reason of a block',
      unit: 'characters',
      per: 'value',
      whenReached: 'DATA_VALUE_INVALID',
      source: 'ours',
    },
    maxPushIdCharacters: {
      what: 'Longest push token or web subscription',
      unit: 'characters',
      per: 'value',
      whenReached: 'DATA_VALUE_INVALID',
      source: 'ours',
    },
    maxDeviceTextCharacters: {
      what: 'Longest model, version or advertising id',
      unit: 'characters',
      per: 'value',
      whenReached: 'DATA_VALUE_INVALID',
      source: 'ours',
    },
  },
};
