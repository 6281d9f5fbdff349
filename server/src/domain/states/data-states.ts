import type { StateMachine } from './state-machine.ts';

/** Devices, segments and how these are filled, and what users do that starts campaigns. */
export const dataStates: readonly StateMachine[] = [
  {
    name: 'a device',
    table: 'devices',
    column: 'state',
    begins: [
      { state: 'ACTIVE', by: 'its app' },
      { state: 'OPTED_OUT', by: 'its app, without messages' },
    ],
    changes: [
      { from: 'ACTIVE', to: 'OPTED_OUT', by: 'messages are not wanted', statement: 'setDeviceOptIn' },
      { from: 'OPTED_OUT', to: 'ACTIVE', by: 'messages are wanted', statement: 'setDeviceOptIn' },
      { from: 'ACTIVE', to: 'GONE', by: 'a provider knows it no more', statement: 'markDevicesGone' },
      { from: 'ACTIVE', to: 'GONE', by: 'three sends over three days suspect it', statement: 'noteSuspectedDevices' },
      { from: 'GONE', to: 'ACTIVE', by: 'a person keeps it', statement: 'keepSuspectedDevice' },
      { from: 'GONE', to: 'ACTIVE', by: 'its app registers it again', statement: 'registeredAgain' },
      { from: 'GONE', to: 'OPTED_OUT', by: 'its app registers it again', statement: 'registeredAgain' },
      ...['ACTIVE', 'OPTED_OUT', 'GONE'].flatMap((state) => [
        { from: state, to: 'BLOCKED', by: 'it is blocked', statement: 'blockDevicesOf' },
        { from: 'BLOCKED', to: state, by: 'it is unblocked', statement: 'unblockDevicesOf' },
      ]),
    ],
  },
  {
    name: 'a segment',
    table: 'segments',
    column: 'state',
    begins: [
      { state: 'FILLING', by: 'a file' },
      { state: 'READY', by: 'filters, or a cohort' },
    ],
    changes: [
      { from: 'FILLING', to: 'READY', by: 'its last file is stored', statement: 'settleSegment' },
      { from: 'FILLING', to: 'FAILED', by: 'no file of it could be stored', statement: 'settleSegment' },
      { from: 'READY', to: 'FILLING', by: 'another file', statement: 'markSegmentFilling' },
      { from: 'FAILED', to: 'FILLING', by: 'another file', statement: 'markSegmentFilling' },
      ...['FILLING', 'READY', 'FAILED'].flatMap((state) => [
        { from: state, to: 'ARCHIVED', by: 'a call', statement: 'archiveSegment' },
        { from: state, to: 'ARCHIVED', by: 'its expiry', statement: 'archiveExpiredSegments' },
        { from: 'ARCHIVED', to: state, by: 'it is unarchived', statement: 'unarchiveSegment' },
      ]),
    ],
  },
  {
    name: 'an operation on a segment',
    table: 'segment_operations',
    column: 'state',
    begins: [{ state: 'QUEUED', by: 'a call' }],
    changes: [
      { from: 'QUEUED', to: 'FILLING', by: 'a worker', statement: 'claimOperation' },
      { from: 'WAITING', to: 'FILLING', by: 'a worker', statement: 'claimOperation' },
      { from: 'FILLING', to: 'QUEUED', by: 'its worker is stopped', statement: 'releaseOperation' },
      { from: 'FILLING', to: 'WAITING', by: 'its file cannot be read now', statement: 'releaseOperation' },
      { from: 'FILLING', to: 'SUCCEEDED', by: 'the users are members', statement: 'endOperation' },
      { from: 'FILLING', to: 'FAILED', by: 'its file is refused', statement: 'endOperation' },
    ],
  },
  {
    name: 'an event that starts a campaign for its user',
    table: 'triggers',
    column: 'state',
    begins: [
      { state: 'WAITING', by: 'an event' },
      { state: 'DROPPED', by: 'an event that is too late' },
    ],
    changes: [
      { from: 'WAITING', to: 'SENT', by: 'it is due, and a run answers it', statement: 'settleTriggers' },
      { from: 'WAITING', to: 'DROPPED', by: 'it is due, and its user is not meant', statement: 'settleTriggers' },
      { from: 'WAITING', to: 'HELD', by: 'it is due, and its campaign is paused', statement: 'settleTriggers' },
      { from: 'HELD', to: 'WAITING', by: 'its campaign goes on, or is over', statement: 'freeHeldTriggers' },
    ],
  },
  {
    name: 'an erasure of a user',
    table: 'erasures',
    column: 'state',
    begins: [{ state: 'PENDING', by: 'a call' }],
    changes: [
      { from: 'PENDING', to: 'REMOVED', by: 'its date', statement: 'noteErasureStep' },
      { from: 'REMOVED', to: 'DONE', by: 'a second look', statement: 'noteErasureStep' },
    ],
    ends: [{ state: 'PENDING', by: 'it is cancelled in the console' }],
  },
];
