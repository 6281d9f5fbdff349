import { tellTrigger } from '../triggers/told-trigger.ts';
import type { ToldTrigger } from '../triggers/told-trigger.ts';
import { suspicionHours, suspicionSends } from '../devices/suspicion.ts';
import type { DeviceExplanation, RunExplanation, Step } from './explain-run.ts';

const sentences: Record<Step, string> = {
  RUN_NOT_STARTED: 'The run has not begun.',
  RUN_MISSED: 'The moment came too late to be sent.',
  RUN_FAILED: 'The run failed before it reached anybody.',
  LEDGER_DROPPED: 'The run is too long ago: who got it is not kept any more, only how many.',
  NOT_IN_AUDIENCE: 'The person was not in the audience when the run began.',
  AUDIENCE_FORGOTTEN: 'The person has no device that could be sent to; whether it was in the audience is not kept.',
  NO_DEVICE: 'The person was in the audience and has no device.',
  DEVICE_TOO_NEW: 'The device was registered after the run had begun.',
  PLATFORM_NOT_MEANT: 'The campaign is not for the platform of the device.',
  TRIAL_NOT_MEANT: 'The campaign is not for iPhones with this kind of permission.',
  APP_NOT_MEANT: 'The campaign is not for the app of the device.',
  DEVICE_OPTED_OUT: 'The device has opted out of pushes.',
  DEVICE_BLOCKED: 'The device is blocked.',
  DEVICE_GONE: 'The provider said that the device is gone.',
  NOT_REACHED_YET: 'The run has not come to the person yet.',
  RUN_STOPPED: 'The run was stopped before.',
  CHUNK_SET_ASIDE: 'A part of the run ended its workers again and again and was set aside.',
  CHANGED_SINCE: 'The device could not be sent to when the run passed; it has changed since.',
  GLOBAL_CONTROL_GROUP:
    'The person is in the control group of the workspace, which the campaign leaves out to be compared with.',
  CAMPAIGN_CONTROL_GROUP:
    'The person is in the control group of the campaign, which gets nothing of it to be compared with.',
  TIME_ZONE_UNKNOWN: 'The time zone that is stored of the person is not one, so nobody can say when to send.',
  BEST_TIME: 'The hour at which the person opens messages decided.',
  USER_TIME_ZONE: 'The time of the campaign decided, in the zone of the person.',
  QUIET_HOURS: 'It was within the quiet hours of the person.',
  CAMPAIGN_SEND_LIMIT: 'The person had got as many messages of this campaign as its limit allows in that time.',
  MINIMUM_DELAY: 'It was too soon after another message.',
  FREQUENCY_CAP: 'The person had got as many messages as the frequency cap allows.',
  CAMPAIGN_AUDIENCE_LIMIT: 'The message comes after those to as many people as the limit of the campaign allows.',
  WAITING: 'The message waits for another attempt.',
  TEMPLATE_FAILED: 'The message could not be made of the attributes of the person.',
  EXPIRED: 'The message died before it could be sent.',
  GONE: 'The provider said that the device is gone.',
  REJECTED: 'The message was rejected.',
  FAILED: 'The message was given up after its attempts.',
  ACCEPTED: 'The provider accepted the message.',
};

/** The sentence of a step, with the instants and the words that are known of it. */
export function tellDevice(device: DeviceExplanation): string {
  const { step, suspicion } = device;
  if (!suspicion) return tellStep(device);
  if (step === 'DEVICE_GONE') return tellSuspect(suspicion);
  return `${tellStep(device)} ${tellSuspect(suspicion)}`;
}

/** Why a device may leave the audience or has left it, and how to undo that. */
function tellSuspect({ id, code, sends, since, hasLeft }: NonNullable<DeviceExplanation['suspicion']>): string {
  const strikes = `${sends} ${sends === 1 ? 'send' : 'sends'} since ${since.toISOString()}`;
  const keep = `carillon devices keep ${id}`;
  if (hasLeft)
    return `The device left the audience after ${strikes} that failed like a dead address (${code}); to take it back, press Keep on the user’s page or run ${keep}.`;
  return `The device is suspected: ${strikes} failed like a dead address (${code}). It leaves the audience after ${suspicionSends} such sends over ${suspicionHours} hours; to prevent that, press Keep on the user’s page or run ${keep}.`;
}

function tellStep({ step, code, at, until, variation, locale }: DeviceExplanation): string {
  const parts = [sentences[step].slice(0, -1)];
  if (step === 'ACCEPTED' && at) parts.push(`at ${at.toISOString()}`);
  if (code !== null && code !== step) parts.push(`(${code})`);
  const content = [variation, locale].filter((name) => name !== null);
  if (content.length > 0) parts.push(`(${content.join(', ')})`);
  if (until) parts.push(`and is waiting until ${until.toISOString()}`);
  return `${parts.join(' ')}.`;
}

/** Why there is no run to explain. */
export const nobodyOfThatId = 'Nobody in this workspace has that customer id.';
const noRunYet = 'The campaign has no run: it has not been sent yet, or too long ago.';

/** Why a user has no run: what the newest of its events became, where events of users start the campaign. */
export function tellNoRun(triggers: readonly ToldTrigger[] | undefined): string {
  if (!triggers) return noRunYet;
  const [newest] = triggers;
  return newest ? tellTrigger(newest) : 'No event of the person has started the campaign.';
}

/** For a run: the sentence of the device that got furthest, or why there is none. */
export function tellRun({ step, reason, devices }: RunExplanation): string {
  const furthest = devices.find((device) => device.step === step);
  if (furthest) return tellDevice(furthest);
  return reason === null ? sentences[step] : `${sentences[step].slice(0, -1)}: ${reason}.`;
}
