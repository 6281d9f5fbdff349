import { campaignTransitions } from '../campaigns/campaign-states.ts';
import type { CampaignKind, CampaignTransition } from '../campaigns/campaign-states.ts';
import type { StateChange, StateMachine } from './state-machine.ts';
import { unknownCase } from '../unknown-case.ts';

/** What is sent: campaigns, their runs, the chunks of these and the deliveries to devices. */
export const sendingStates: readonly StateMachine[] = [
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
      { state: 'SENT', by: 'named users, none of whom is known' },
      { state: 'MISSED', by: 'an occurrence found too late' },
      { state: 'FAILED', by: 'an occurrence that matches too many users' },
    ],
    changes: [
      { from: 'QUEUED', to: 'SENDING', by: 'its audience is frozen', statement: 'startRun' },
      { from: 'QUEUED', to: 'SENDING', by: 'the occurrence it waited for', statement: 'startWaitingRun' },
      { from: 'QUEUED', to: 'SENT', by: 'no user matches', statement: 'startWaitingRun' },
      { from: 'QUEUED', to: 'MISSED', by: 'its occurrence was missed', statement: 'endWaitingRun' },
      { from: 'QUEUED', to: 'FAILED', by: 'too many users match', statement: 'endWaitingRun' },
      { from: 'QUEUED', to: 'FAILED', by: 'its audience is gone', statement: 'failRun' },
      { from: 'QUEUED', to: 'PAUSED', by: 'its campaign is paused', statement: 'pauseCampaignRuns' },
      { from: 'SENDING', to: 'PAUSED', by: 'its campaign is paused', statement: 'pauseCampaignRuns' },
      { from: 'SENDING', to: 'PAUSED', by: 'its credentials are refused', statement: 'pauseRun' },
      { from: 'PAUSED', to: 'QUEUED', by: 'its campaign is resumed', statement: 'resumeCampaignRuns' },
      { from: 'PAUSED', to: 'SENDING', by: 'its campaign is resumed', statement: 'resumeCampaignRuns' },
      { from: 'PAUSED', to: 'SENDING', by: 'its credentials are taken again', statement: 'continueRun' },
      { from: 'SENDING', to: 'SENT', by: 'nothing is left to send', statement: 'endFinishedRuns' },
      { from: 'SENDING', to: 'FAILED', by: 'a chunk was quarantined', statement: 'endFinishedRuns' },
      { from: 'QUEUED', to: 'STOPPED', by: 'its campaign is stopped', statement: 'stopCampaignRuns' },
      { from: 'SENDING', to: 'STOPPED', by: 'its campaign is stopped', statement: 'stopCampaignRuns' },
      { from: 'PAUSED', to: 'STOPPED', by: 'its campaign is stopped', statement: 'stopCampaignRuns' },
    ],
  },
  {
    name: 'a chunk',
    table: 'chunks',
    column: 'state',
    begins: [{ state: 'READY', by: 'its run starts' }],
    changes: [
      { from: 'READY', to: 'CLAIMED', by: 'a worker', statement: 'claimChunks' },
      { from: 'CLAIMED', to: 'READY', by: 'its worker is stopped, or its run is paused', statement: 'releaseChunk' },
      { from: 'CLAIMED', to: 'DONE', by: 'all of it is sent', statement: 'endChunk' },
      { from: 'CLAIMED', to: 'QUARANTINED', by: 'it ends its workers', statement: 'endChunk' },
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
      { from: 'WAITING', to: 'EXPIRED', by: 'its time is over', statement: 'settleDeliveries' },
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
