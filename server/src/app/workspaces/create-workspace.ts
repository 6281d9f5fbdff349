import { randomBytes } from 'node:crypto';
import { isWorkspaceId } from '../../domain/tokens/workspace-id.ts';
import { findTimeZone, noTimeZone } from '../../domain/timing/time-zone.ts';
import { dataCenters } from '../../domain/tokens/data-center.ts';
import type { DataCenter } from '../../domain/tokens/data-center.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { findWorkspace, findWorkspaceByDbName, insertWorkspace } from '../../storage/installation/workspaces.ts';
import type { Workspace } from '../../storage/installation/workspaces.ts';

export type NewWorkspace = {
  /** Undefined makes one. */
  id: string | undefined;
  /** Undefined: derived from the id. */
  dbName: string | undefined;
  name: string;
  timeZone: string;
  dataCenter: string;
};

/** A workspace that cannot be made; the message is for the person who asked. */
export class WorkspaceRefusedError extends Error {
  override readonly name = 'WorkspaceRefusedError';
}

/** Makes an empty workspace: no keys, no credentials, nobody in it. @throws WorkspaceRefusedError */
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

/** 24 characters of A–Z and 2–9 without look-alikes; no pipe, so a signed string parses one way only (decision D35). */
export function makeWorkspaceId(random: (bytes: number) => Buffer): string {
  const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
  return Array.from(random(24), (byte) => alphabet[byte % alphabet.length]).join('');
}

/** @throws WorkspaceRefusedError */
export function requireWorkspaceName(name: string): void {
  requireValid(name.trim() !== '' && name.length <= 100, 'The name takes 1 to 100 characters.');
}

/** The IANA name of a zone. @throws WorkspaceRefusedError for a name that stands for none */
export function readTimeZone(name: string): string {
  const timeZone = findTimeZone(name);
  if (timeZone === undefined)
    throw new WorkspaceRefusedError(`${name} ${noTimeZone}: an IANA name such as Europe/Berlin is.`);
  return timeZone;
}

function requireValid(isValid: boolean, sentence: string): void {
  if (!isValid) throw new WorkspaceRefusedError(sentence);
}
