import { randomBytes } from 'node:crypto';
import { dataCenters } from '../domain/access/data-centers.ts';
import type { DataCenter } from '../domain/access/data-centers.ts';
import { isDataPrefix, isPushFrom } from '../domain/content/content.ts';
import type { PayloadMode } from '../domain/content/content.ts';
import { ServiceError } from '../domain/errors.ts';
import { isWorkspaceId } from '../domain/ids.ts';
import {
  maxCapHours,
  maxCapMessages,
  maxCaps,
  maxDelayMinutes,
  maxGlobalControlPercent,
} from '../domain/limits/campaigns.ts';
import { findTimeZone, noTimeZone } from '../domain/timing/local-time.ts';
import { parseFrequencyCaps, parseQuietSpan } from '../domain/workspace-controls.ts';
import type { QuietMode } from '../domain/workspace-controls.ts';
import { inTransaction } from '../storage/database.ts';
import type { Database, Queryable } from '../storage/database.ts';
import { findWorkspace, findWorkspaceByDbName, insertWorkspace, updateWorkspace } from '../storage/workspaces.ts';
import type { Workspace, WorkspaceChanges } from '../storage/workspaces.ts';

export type NewWorkspace = {
  /** Undefined generates one. */
  id: string | undefined;
  /** Undefined derives it from the id. */
  dbName: string | undefined;
  name: string;
  timeZone: string;
  dataCenter: string;
};

/** A workspace cannot be created; the message is for the user who requested it. */
export class WorkspaceRefusedError extends Error {
  override readonly name = 'WorkspaceRefusedError';
}

/** Creates an empty workspace: no keys, no credentials, no users. @throws WorkspaceRefusedError */
export async function createWorkspace(
  { database }: { database: Database },
  { at, ...given }: NewWorkspace & { at: Date },
): Promise<Workspace> {
  const id = given.id ?? makeWorkspaceId(randomBytes);
  const dbName = given.dbName ?? id.toLowerCase();
  requireValid(isWorkspaceId(id), 'The id takes 1 to 64 letters, digits, - and _.');
  requireValid(
    /^[A-Za-z0-9_.-]{1,64}$/.test(dbName),
    'The database name takes 1 to 64 letters, digits, dots, - and _.',
  );
  requireWorkspaceName(given.name);
  requireValid(
    dataCenters.includes(given.dataCenter as DataCenter),
    `The data center is one of ${dataCenters.join(', ')}.`,
  );
  const timeZone = readTimeZone(given.timeZone);
  return await inTransaction(database, async (tx) => {
    requireValid(!(await findWorkspace(tx, id)), `There is a workspace ${id} already.`);
    requireValid(!(await findWorkspaceByDbName(tx, dbName)), `The database name ${dbName} is taken.`);
    const isNew = await insertWorkspace(tx, { ...given, timeZone, id, dbName, createdAt: at });
    requireValid(isNew, `The workspace ${id} or the database name ${dbName} was made at the same time.`);
    return (await findWorkspace(tx, id))!;
  });
}

/** Returns 24 characters of A–Z and 2–9 without look-alikes; no pipe, so a signed string parses one way only (decision D35). */
export function makeWorkspaceId(random: (bytes: number) => Buffer): string {
  const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
  return Array.from(random(24), (byte) => alphabet[byte % alphabet.length]).join('');
}

/** @throws WorkspaceRefusedError */
function requireWorkspaceName(name: string): void {
  requireValid(name.trim() !== '' && name.length <= 100, 'The name takes 1 to 100 characters.');
}

/** Returns the IANA name of a zone. @throws WorkspaceRefusedError for an unknown zone */
function readTimeZone(name: string): string {
  const timeZone = findTimeZone(name);
  if (timeZone === undefined)
    throw new WorkspaceRefusedError(`${name} ${noTimeZone}: an IANA name such as Europe/Berlin is.`);
  return timeZone;
}

function requireValid(isValid: boolean, sentence: string): void {
  if (!isValid) throw new WorkspaceRefusedError(sentence);
}

/** As a user writes them: `none` removes a control. */
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
  /** `none` means the installation's. */
  dataPrefix: string | undefined;
};

/**
 * Parses controls.
 *
 * @throws WorkspaceRefusedError that lists the valid values
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

/** Parses the settings for Android messages. @throws WorkspaceRefusedError that lists the valid values */
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
 * Changes the given properties of a workspace. Runs in progress keep their throttle; caps, quiet hours and delays apply from
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

/** Returns the workspace named by a caller who may see all of them. @throws ServiceError NOT_FOUND */
export async function requireWorkspace(tx: Queryable, id: string): Promise<Workspace> {
  const workspace = await findWorkspace(tx, id);
  if (!workspace) throw new ServiceError('NOT_FOUND', { detail: 'no such workspace' });
  return workspace;
}

export type WorkspaceNames = { workspaceId: string; dbName: string | undefined; appKey: string | undefined };

/** True if the headers of a call name the workspace of its credentials. */
export async function isWorkspaceNamed(
  { database }: { database: Queryable },
  { workspaceId, dbName, appKey }: WorkspaceNames,
): Promise<boolean> {
  if (appKey !== undefined && appKey !== workspaceId) return false;
  if (dbName === undefined) return true;
  return (await findWorkspace(database, workspaceId))?.dbName === dbName;
}
