import { campaignTransitions } from './campaigns/campaign.ts';
import type { CampaignKind, CampaignTransition } from './campaigns/campaign.ts';
import { unknownCase } from './unknown-case.ts';

/** The states of a row. `docs/states.md` is generated from it, and tests compare it with the tables and the statements. */
export type StateMachine = {
  /** The name of the row in a sentence. */
  name: string;
  table: string;
  column: 'status' | 'state' | 'outcome';
  begins: readonly { state: string; by: string }[];
  changes: readonly StateChange[];
  /** The row is deleted, so it has no further state. */
  ends?: readonly { state: string; by: string }[];
  /** Values that the table allows and no row has in this version. */
  reserved?: readonly string[];
};

type StateChange = {
  from: string;
  to: string;
  by: string;
  /** The function in `storage` that makes the change. */
  statement: string;
};

/** Campaigns, their runs, the chunks of the runs, and the deliveries to devices. */
const sendingStates: readonly StateMachine[] = [
  {
    name: 'a one-time campaign',
    table: 'campaigns',
    column: 'status',
    begins: [
      { state: 'DRAFT', by: 'a draft' },
      { state: 'SCHEDULED', by: 'later' },
      { state: 'SENDING', by: 'soon' },
    ],
    changes: changesOfCampaigns('one-time'),
    reserved: ['ARCHIVED'],
  },
  {
    name: 'a recurring campaign',
    table: 'campaigns',
    column: 'status',
    begins: [
      { state: 'DRAFT', by: 'a draft' },
      { state: 'ACTIVE', by: 'periodic, or an event' },
    ],
    changes: changesOfCampaigns('recurring'),
    reserved: ['ARCHIVED'],
  },
  {
    name: 'a run',
    table: 'runs',
    column: 'status',
    begins: [
      { state: 'QUEUED', by: 'all users, a segment, or a scheduled campaign joined' },
      { state: 'SENDING', by: 'named users' },
      { state: 'SENT', by: 'named users, none of them known' },
      { state: 'MISSED', by: 'an occurrence found too late' },
      { state: 'FAILED', by: 'an occurrence that matches too many users' },
    ],
    changes: [
      { from: 'QUEUED', to: 'SENDING', by: 'its audience is frozen', statement: 'startRun' },
      { from: 'QUEUED', to: 'SENDING', by: 'the occurrence it waited for', statement: 'startWaitingRun' },
      { from: 'QUEUED', to: 'SENT', by: 'no user matches', statement: 'startWaitingRun' },
      { from: 'QUEUED', to: 'MISSED', by: 'its occurrence was missed', statement: 'endWaitingRun' },
      { from: 'QUEUED', to: 'FAILED', by: 'too many users match', statement: 'endWaitingRun' },
      { from: 'QUEUED', to: 'FAILED', by: 'its audience was deleted', statement: 'failRun' },
      { from: 'QUEUED', to: 'PAUSED', by: 'its campaign is paused', statement: 'pauseCampaignRuns' },
      { from: 'SENDING', to: 'PAUSED', by: 'its campaign is paused', statement: 'pauseCampaignRuns' },
      { from: 'SENDING', to: 'PAUSED', by: 'its credentials are rejected', statement: 'pauseRun' },
      { from: 'PAUSED', to: 'QUEUED', by: 'its campaign is resumed', statement: 'resumeCampaignRuns' },
      { from: 'PAUSED', to: 'SENDING', by: 'its campaign is resumed', statement: 'resumeCampaignRuns' },
      { from: 'PAUSED', to: 'SENDING', by: 'its credentials are accepted again', statement: 'continueRun' },
      { from: 'SENDING', to: 'SENT', by: 'all messages are sent', statement: 'endSentRuns' },
      { from: 'SENDING', to: 'SENT', by: 'all messages are sent', statement: 'endNamedRuns' },
      { from: 'SENDING', to: 'FAILED', by: 'a chunk was quarantined', statement: 'endSentRuns' },
      { from: 'QUEUED', to: 'STOPPED', by: 'its campaign is stopped', statement: 'stopCampaignRuns' },
      { from: 'SENDING', to: 'STOPPED', by: 'its campaign is stopped', statement: 'stopCampaignRuns' },
      { from: 'PAUSED', to: 'STOPPED', by: 'its campaign is stopped', statement: 'stopCampaignRuns' },
    ],
  },
  {
    name: 'a chunk',
    table: 'chunks',
    column: 'state',
    begins: [
      { state: 'READY', by: 'its run starts' },
      { state: 'CLAIMED', by: 'a push that its node sends itself' },
    ],
    changes: [
      { from: 'READY', to: 'CLAIMED', by: 'a worker', statement: 'claimChunks' },
      { from: 'READY', to: 'CLAIMED', by: 'a worker, because its run has its turn', statement: 'claimTurn' },
      { from: 'READY', to: 'CLAIMED', by: 'a worker, with all runs to named users', statement: 'claimAllNamed' },
      { from: 'READY', to: 'CLAIMED', by: 'a worker, with a share of each workspace', statement: 'claimNamedShares' },
      {
        from: 'CLAIMED',
        to: 'READY',
        by: 'its worker is stopped, its run is paused, or others have their turn',
        statement: 'releaseChunk',
      },
      { from: 'CLAIMED', to: 'DONE', by: 'all of its messages are sent', statement: 'endChunk' },
      { from: 'CLAIMED', to: 'DONE', by: 'its named users were sent to', statement: 'endNamedChunks' },
      { from: 'CLAIMED', to: 'QUARANTINED', by: 'it crashes its workers', statement: 'endChunk' },
      { from: 'READY', to: 'DONE', by: 'its run was stopped', statement: 'stopCampaignRuns' },
      { from: 'READY', to: 'DONE', by: 'its run was stopped', statement: 'settleStoppedRuns' },
      { from: 'CLAIMED', to: 'DONE', by: 'its run was stopped, and its lease ended', statement: 'settleStoppedRuns' },
    ],
  },
  {
    name: 'a delivery',
    table: 'deliveries',
    column: 'outcome',
    begins: (['ACCEPTED', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD', 'WAITING'] as const).map((state) => ({
      state,
      by: state === 'WITHHELD' ? 'the delivery controls' : state === 'WAITING' ? 'later' : 'the first attempt',
    })),
    changes: [
      ...(['ACCEPTED', 'GONE', 'REJECTED', 'FAILED'] as const).map((to) => ({
        ...{ from: 'WAITING', to, by: 'another attempt', statement: 'settleDeliveries' },
      })),
      { from: 'WAITING', to: 'WITHHELD', by: 'the delivery controls', statement: 'settleDeliveries' },
      { from: 'WAITING', to: 'EXPIRED', by: 'it expires', statement: 'settleDeliveries' },
      { from: 'WAITING', to: 'EXPIRED', by: 'its campaign is stopped', statement: 'expireOf' },
    ],
  },
];

function changesOfCampaigns(wanted: CampaignKind): StateChange[] {
  return campaignTransitions
    .filter(({ kind }) => kind === wanted)
    .map((transition) => ({ ...transition, statement: statementOf(transition) }));
}

function statementOf({ by, kind, from }: CampaignTransition): string {
  switch (by) {
    case 'pause':
    case 'resume':
    case 'stop':
      return 'moveCampaign';
    case 'publishing':
    case 'recalling':
      return 'updateAuthoredCampaign';
    case 'a new version':
      return 'retireVersion';
    case 'its expiry':
    case 'its occurrence':
    case 'a missed occurrence':
      return 'advanceCampaigns';
    case 'the end of its runs':
      return kind === 'one-time' ? 'endFinishedCampaigns' : 'retireFinishedCampaigns';
    case 'a failed run':
      return from === 'SCHEDULED' ? 'advanceCampaigns' : 'failRun';
    case 'a joining request':
      return 'reopenCampaigns';
    default:
      return unknownCase(by);
  }
}

/** Messages to third-party servers and phones, and files that are made for a caller. */
const outgoingStates: readonly StateMachine[] = [
  {
    name: 'a callback',
    table: 'callbacks',
    column: 'state',
    begins: [{ state: 'PENDING', by: 'an operation ends, or an alert' }],
    changes: [
      { from: 'PENDING', to: 'DELIVERED', by: 'its receiver accepts it', statement: 'settleMessage' },
      { from: 'PENDING', to: 'GIVEN_UP', by: 'the last attempt', statement: 'settleMessage' },
      {
        from: 'PENDING',
        to: 'GIVEN_UP',
        by: 'a day without a response of its receiver',
        statement: 'giveUpPausedCallbacks',
      },
      { from: 'DELIVERED', to: 'PENDING', by: 'it is sent again', statement: 'resendMessage' },
      { from: 'GIVEN_UP', to: 'PENDING', by: 'it is sent again', statement: 'resendMessage' },
    ],
  },
  {
    name: 'an email',
    table: 'mails',
    column: 'state',
    begins: [
      { state: 'PENDING', by: 'an operation ends, or an alert' },
      { state: 'KEPT', by: 'no mail server is configured' },
    ],
    changes: [
      { from: 'PENDING', to: 'SENT', by: 'the mail server accepts it', statement: 'settleMessage' },
      { from: 'PENDING', to: 'FAILED', by: 'the last attempt', statement: 'settleMessage' },
      { from: 'PENDING', to: 'KEPT', by: 'the mail server was removed', statement: 'settleMessage' },
      { from: 'SENT', to: 'PENDING', by: 'it is sent again', statement: 'resendMessage' },
      { from: 'FAILED', to: 'PENDING', by: 'it is sent again', statement: 'resendMessage' },
      { from: 'KEPT', to: 'PENDING', by: 'it is sent again', statement: 'resendMessage' },
    ],
  },
  {
    name: 'a batch of an event stream',
    table: 'event_stream_batches',
    column: 'state',
    begins: [{ state: 'PENDING', by: 'events' }],
    changes: [
      { from: 'PENDING', to: 'GIVEN_UP', by: 'the last attempt', statement: 'keepEventBatch' },
      {
        from: 'PENDING',
        to: 'GIVEN_UP',
        by: 'a day without a response of its receiver',
        statement: 'giveUpPausedBatches',
      },
      { from: 'GIVEN_UP', to: 'PENDING', by: 'it is sent again', statement: 'resendDeadBatches' },
    ],
    ends: [{ state: 'PENDING', by: 'its receiver accepts it' }],
  },
  {
    name: 'a message to a Live Activity',
    table: 'live_activity_messages',
    column: 'state',
    begins: [{ state: 'WAITING', by: 'an event of the activity' }],
    changes: [
      ...(['ACCEPTED', 'GONE', 'REJECTED', 'FAILED'] as const).map((to) => ({
        ...{ from: 'WAITING', to, by: 'an attempt', statement: 'settleLiveMessage' },
      })),
      { from: 'WAITING', to: 'EXPIRED', by: 'it expires', statement: 'settleLiveMessage' },
      { from: 'WAITING', to: 'SUPERSEDED', by: 'a newer event', statement: 'insertLiveEvent' },
    ],
  },
  {
    name: 'a silent challenge to a push token',
    table: 'push_token_challenges',
    column: 'state',
    begins: [{ state: 'WAITING', by: 'an app that registers the token of another device' }],
    changes: [
      ...(['ACCEPTED', 'GONE', 'REJECTED', 'FAILED'] as const).map((to) => ({
        ...{ from: 'WAITING', to, by: 'an attempt', statement: 'settleChallenge' },
      })),
      { from: 'WAITING', to: 'EXPIRED', by: 'it expires', statement: 'settleChallenge' },
    ],
    ends: [{ state: 'ACCEPTED', by: 'its code comes back' }],
  },
  {
    name: 'a report file',
    table: 'report_files',
    column: 'state',
    begins: [{ state: 'WAITING', by: 'a call' }],
    changes: [
      { from: 'WAITING', to: 'READY', by: 'it is created', statement: 'endReportFile' },
      { from: 'WAITING', to: 'FAILED', by: 'the last attempt', statement: 'keepReportFile' },
    ],
  },
];

/** Devices, segments and the operations that fill them, user events that start campaigns, journeys, and erasures. */
const dataStates: readonly StateMachine[] = [
  {
    name: 'a device',
    table: 'devices',
    column: 'state',
    begins: [
      { state: 'ACTIVE', by: 'its app' },
      { state: 'OPTED_OUT', by: 'its app, opted out' },
    ],
    changes: [
      { from: 'ACTIVE', to: 'OPTED_OUT', by: 'it opts out', statement: 'setDeviceOptIn' },
      { from: 'OPTED_OUT', to: 'ACTIVE', by: 'it opts in', statement: 'setDeviceOptIn' },
      { from: 'ACTIVE', to: 'GONE', by: 'a provider reports it as unregistered', statement: 'markDevicesGone' },
      { from: 'ACTIVE', to: 'GONE', by: 'three strikes over three days', statement: 'noteSuspectedDevices' },
      { from: 'GONE', to: 'ACTIVE', by: 'a user keeps it', statement: 'keepSuspectedDevice' },
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
      { from: 'FILLING', to: 'WAITING', by: 'its file is temporarily unavailable', statement: 'releaseOperation' },
      { from: 'FILLING', to: 'SUCCEEDED', by: 'the users are members', statement: 'endOperation' },
      { from: 'FILLING', to: 'FAILED', by: 'its file is rejected', statement: 'endOperation' },
    ],
  },
  {
    name: 'an event that starts a campaign for its user',
    table: 'triggers',
    column: 'state',
    begins: [
      { state: 'WAITING', by: 'an event' },
      { state: 'DROPPED', by: 'a late event' },
    ],
    changes: [
      { from: 'WAITING', to: 'SENT', by: 'it is due, and a run sends it', statement: 'settleTriggers' },
      { from: 'WAITING', to: 'DROPPED', by: 'it is due, and its user is not eligible', statement: 'settleTriggers' },
      { from: 'WAITING', to: 'HELD', by: 'it is due, and its campaign is paused', statement: 'settleTriggers' },
      { from: 'HELD', to: 'WAITING', by: 'its campaign continues or ends', statement: 'freeHeldTriggers' },
    ],
  },
  {
    name: 'a journey',
    table: 'journeys',
    column: 'status',
    begins: [{ state: 'DRAFT', by: 'a call' }],
    changes: [
      { from: 'DRAFT', to: 'ACTIVE', by: 'publishing', statement: 'publishJourneyVersion' },
      { from: 'ACTIVE', to: 'PAUSED', by: 'a pause', statement: 'moveJourney' },
      { from: 'PAUSED', to: 'ACTIVE', by: 'a resumption', statement: 'moveJourney' },
      { from: 'ACTIVE', to: 'STOPPED', by: 'a stop', statement: 'moveJourney' },
      { from: 'PAUSED', to: 'STOPPED', by: 'a stop', statement: 'moveJourney' },
    ],
    ends: [{ state: 'DRAFT', by: 'it is deleted' }],
  },
  {
    name: 'a proposal of an agent',
    table: 'agent_proposals',
    column: 'state',
    begins: [{ state: 'PENDING', by: 'an agent' }],
    changes: [
      { from: 'PENDING', to: 'APPROVED', by: 'a person, in the console', statement: 'decideProposal' },
      { from: 'PENDING', to: 'REFUSED', by: 'a person, in the console', statement: 'decideProposal' },
      {
        from: 'PENDING',
        to: 'WITHDRAWN',
        by: 'another proposal, or the draft is published',
        statement: 'withdrawProposals',
      },
      { from: 'PENDING', to: 'WITHDRAWN', by: 'its token is revoked', statement: 'withdrawProposalsOfToken' },
      { from: 'PENDING', to: 'WITHDRAWN', by: 'it expired', statement: 'withdrawExpiredProposals' },
    ],
  },
  {
    name: 'an erasure of a user',
    table: 'erasures',
    column: 'state',
    begins: [{ state: 'PENDING', by: 'a call' }],
    changes: [
      { from: 'PENDING', to: 'REMOVED', by: 'its date', statement: 'noteErasureStep' },
      { from: 'REMOVED', to: 'DONE', by: 'a second check', statement: 'noteErasureStep' },
    ],
    ends: [{ state: 'PENDING', by: 'it is cancelled in the console' }],
  },
];

/** All state machines, in the order of docs/states.md. */
export const stateMachines: readonly StateMachine[] = [...sendingStates, ...dataStates, ...outgoingStates];
