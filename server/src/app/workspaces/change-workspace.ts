import { isDataPrefix, isPushFrom } from '../../domain/campaigns/android-payload.ts';
import type { PayloadMode } from '../../domain/campaigns/android-payload.ts';
import { parseFrequencyCaps, parseQuietSpan } from '../../domain/eligibility/workspace-controls.ts';
import type { QuietMode } from '../../domain/eligibility/workspace-controls.ts';
import type { Queryable } from '../../storage/database.ts';
import { updateWorkspace } from '../../storage/installation/workspaces.ts';
import type { WorkspaceChanges } from '../../storage/installation/workspaces.ts';
import { WorkspaceRefusedError, readTimeZone, requireWorkspaceName } from './create-workspace.ts';
import { maxGlobalControlPercent } from '../../domain/experiments/limits.ts';
import { maxCapHours, maxCapMessages, maxCaps, maxDelayMinutes } from '../../domain/eligibility/limits.ts';

/** As a person writes them: `none` takes a control away. */
export type WorkspaceControlTexts = {
  /** `2/1d,5/7d` */
  frequencyCaps: string | undefined;
  /** `22:00-08:00` */
  quietHours: string | undefined;
  quietMode: QuietMode | undefined;
  /** Minutes. */
  minimumDelay: string | undefined;
  zoneAttribute: string | undefined;
  /** Percent. */
  controlGroup: string | undefined;
};

export type AndroidPayloadTexts = {
  androidMode: PayloadMode | undefined;
  pushFrom: string | undefined;
  /** `none`: the installation's. */
  dataPrefix: string | undefined;
};

/**
 * Reads controls.
 *
 * @throws WorkspaceRefusedError with what is possible
 */
export function parseControls(texts: WorkspaceControlTexts) {
  const { frequencyCaps, quietHours, minimumDelay, zoneAttribute, controlGroup } = texts;
  if (zoneAttribute !== undefined && (zoneAttribute.trim() === '' || zoneAttribute.length > 256))
    throw new WorkspaceRefusedError('The attribute takes 1 to 256 characters.');
  return {
    frequencyCaps:
      frequencyCaps === 'none' ? [] : read(frequencyCaps, { parse: parseFrequencyCaps, sentence: capSentence }),
    quietSpan: quietHours === 'none' ? null : read(quietHours, { parse: parseQuietSpan, sentence: quietSentence }),
    quietMode: texts.quietMode,
    minimumDelayMinutes:
      minimumDelay === 'none' ? null : read(minimumDelay, { parse: parseMinutes, sentence: delaySentence }),
    zoneAttribute,
    controlGroupPercent:
      controlGroup === 'none' ? null : read(controlGroup, { parse: parsePercent, sentence: controlGroupSentence }),
  };
}

/** Reads how Android messages are to be written. @throws WorkspaceRefusedError with what is possible */
export function parseAndroidPayload({ androidMode, pushFrom, dataPrefix }: AndroidPayloadTexts) {
  const parse = (isPossible: (text: string) => boolean) => (text: string) => (isPossible(text) ? text : undefined);
  return {
    androidMode,
    pushFrom: read(pushFrom, { parse: parse(isPushFrom), sentence: pushFromSentence }),
    dataPrefix:
      dataPrefix === 'none' ? null : read(dataPrefix, { parse: parse(isDataPrefix), sentence: dataPrefixSentence }),
  };
}

const pushFromSentence = 'The value of push_from takes 1 to 64 letters, digits, dots, - and _.';
const dataPrefixSentence =
  'The prefix of data keys takes 1 to 16 lower-case letters and digits, a letter first, and is not gcm, google or kv; none means that of the installation.';
const capSentence =
  `Frequency caps are up to ${maxCaps} rules such as 2/1d,5/7d, of different lengths: ` +
  `1 to ${maxCapMessages} messages in 1 to ${maxCapHours} hours (h) or 1 to ${maxCapHours / 24} days (d), or none.`;
const quietSentence = 'Quiet hours are two different times such as 22:00-08:00, or none.';
const delaySentence = `The minimum delay is 1 to ${maxDelayMinutes} minutes, or none.`;

const controlGroupSentence = `The control group is 1 to ${maxGlobalControlPercent} percent of the users, or none.`;

function parsePercent(text: string): number | undefined {
  const percent = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  return percent >= 1 && percent <= maxGlobalControlPercent ? percent : undefined;
}

function parseMinutes(text: string): number | undefined {
  const minutes = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return minutes >= 1 && minutes <= maxDelayMinutes ? minutes : undefined;
}

type Reading<Value> = { parse: (text: string) => Value | undefined; sentence: string };

function read<Value>(text: string | undefined, { parse, sentence }: Reading<Value>): Value | undefined {
  if (text === undefined) return undefined;
  const value = parse(text);
  if (value === undefined) throw new WorkspaceRefusedError(sentence);
  return value;
}

/**
 * Changes what is given of a workspace. Runs in progress keep their throttle; caps, quiet hours and delays apply from
 * their next chunk on.
 *
 * @throws WorkspaceRefusedError
 */
export async function changeWorkspace(
  { database }: { database: Queryable },
  { id, ...changes }: WorkspaceChanges & { id: string },
): Promise<void> {
  if (changes.name !== undefined) requireWorkspaceName(changes.name);
  const timeZone = changes.timeZone === undefined ? undefined : readTimeZone(changes.timeZone);
  if (!(await updateWorkspace(database, { id, ...changes, timeZone })))
    throw new WorkspaceRefusedError(`There is no workspace ${id}.`);
}
