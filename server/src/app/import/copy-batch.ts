import { makeId } from '../../domain/ids.ts';
import { addressHash } from '../../domain/users/devices.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import { bucketOf, identifiersOf } from '../../domain/users/users.ts';
import type { Queryable } from '../../storage/database.ts';
import {
  clearUserStaging,
  storeNewIdentifiers,
  storeStagedIdentifiers,
  storeStagedUsers,
  copyInto,
} from '../../storage/users/user-import.ts';
import type { CopiedTable } from '../../storage/users/user-import.ts';
import type { ImportedEvent, ImportedDevice, ImportedUser } from './parse-rows.ts';

export type DeviceOfLine = ImportedDevice & { line: number };
/** A customer id of a batch with the devices that its lines named. */
export type CustomerDevices = { customerId: string; devices: DeviceOfLine[] };

/** A copied user, with the id it gets if it does not exist yet. */
export type StagedUser = { bucket: number; id: string; customerId: string; attributes: Attributes };

/** Copies users into the staging table. */
export async function copyUsers(
  session: Queryable,
  { users, at }: { users: Omit<ImportedUser, 'devices'>[]; at: Date },
): Promise<StagedUser[]> {
  const staged = users.map(({ customerId, attributes }) => {
    return { bucket: bucketOf(customerId), id: makeId(at), customerId, attributes };
  });
  await copyRows(session, 'import_users', function* () {
    for (const { bucket, id, customerId, attributes } of staged) {
      const removed = Object.keys(attributes).filter((name) => attributes[name] === null);
      const kept =
        removed.length === 0
          ? attributes
          : Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null));
      yield [bucket, id, customerId, JSON.stringify(kept), toArrayText(removed)];
    }
  });
  return staged;
}

/**
 * Stores the copied users with their identifiers. Identifiers of new users are neither joined nor sorted; they come in bucket
 * order (measured: doing both was a third of all the work). Identifiers of existing users that changed are compared.
 */
export async function storeUsers(
  session: Queryable,
  { users, workspaceId, at }: { users: StagedUser[]; workspaceId: string; at: Date },
): Promise<void> {
  const { existing, changed } = await storeStagedUsers(session, { workspaceId, staged: users.length, at });
  const made = users.filter(({ customerId }) => !existing.has(customerId)).sort((a, b) => a.bucket - b.bucket);
  await copyRows(session, 'new_identifiers', function* () {
    for (const { bucket, id, attributes } of made) {
      for (const { attribute, type, value } of identifiersOf(attributes)) yield [bucket, id, attribute, type, value];
    }
  });
  await storeNewIdentifiers(session, workspaceId);
  if (changed.size > 0) {
    await copyRows(session, 'import_identifiers', function* () {
      for (const { customerId, attributes } of users) {
        if (!changed.has(customerId)) continue;
        for (const { attribute, type, value } of identifiersOf(attributes)) yield [customerId, attribute, type, value];
      }
    });
    await storeStagedIdentifiers(session, workspaceId);
  }
  await clearUserStaging(session);
}

/**
 * Copies devices into the staging table. A push address that two users claim goes to the later one.
 *
 * @returns the number of devices
 */
export async function copyDevices(
  session: Queryable,
  { customers, at }: { customers: CustomerDevices[]; at: Date },
): Promise<number> {
  const owners = new Map<string, string>();
  for (const { customerId, devices } of customers) for (const device of devices) owners.set(device.pushId, customerId);
  let count = 0;
  await copyRows(session, 'import_devices', function* () {
    for (const customer of customers) {
      for (const device of lastOfEach(customer, owners)) {
        count += 1;
        yield deviceRow(customer.customerId, device, at);
      }
    }
  });
  return count;
}

/**
 * Returns one device per name and address: the last of repeats counts, and a device is dropped if a later user has its address.
 */
function lastOfEach({ customerId, devices }: CustomerDevices, owners: Map<string, string>): DeviceOfLine[] {
  const byName = new Map(devices.map((device) => [device.deviceId, device]));
  const byAddress = new Map([...byName.values()].map((device) => [device.pushId, device]));
  return [...byAddress.values()].filter((device) => owners.get(device.pushId) === customerId);
}

function deviceRow(customerId: string, device: DeviceOfLine, at: Date): Cell[] {
  return [
    device.line,
    customerId,
    bucketOf(customerId),
    makeId(at),
    device.deviceId,
    device.platform,
    device.provider,
    device.pushId,
    device.pushIdType,
    device.appId ?? null,
    `\\x${addressHash(device.pushId).toString('hex')}`,
    device.isOptedOut ? 'OPTED_OUT' : 'ACTIVE',
    device.isProvisional ? 't' : 'f',
    device.model,
    device.appVersion,
    device.osVersion,
    device.gaid,
    device.idfv,
    device.locale,
    device.badgeCount,
  ];
}

/** Copies events into the staging table, each with the id that its user gets if it does not exist yet. */
export async function copyEvents(
  session: Queryable,
  { events, at }: { events: ImportedEvent[]; at: Date },
): Promise<void> {
  await copyRows(session, 'import_events', function* () {
    for (const event of events) {
      yield [
        event.customerId,
        bucketOf(event.customerId),
        makeId(at),
        makeId(at),
        event.name,
        JSON.stringify(event.attributes),
        event.occurredAt.toISOString(),
        event.platform,
        event.appVersion,
        event.utcOffsetSeconds,
        event.deviceId,
      ];
    }
  });
}

type Cell = string | number | null;

// Large enough to keep the connection busy, small enough to keep memory flat.
const pieceCharacters = 256 * 1024;

/** Streams rows into a table with `COPY`. */
async function copyRows(tx: Queryable, table: CopiedTable, rows: () => Generator<Cell[]>): Promise<void> {
  await copyInto[table](tx).copyFrom(linesOf(rows()));
}

function* linesOf(rows: Generator<Cell[]>): Generator<string> {
  let piece = '';
  for (const row of rows) {
    piece += `${row.map(escape).join('\t')}\n`;
    if (piece.length < pieceCharacters) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** Returns PostgreSQL's text for an array of texts. */
function toArrayText(texts: string[]): string {
  return `{${texts.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;
}

const special = /[\\\t\n\r]/;

/** Escapes a cell for PostgreSQL's text format: backslash, tab and line ends are escaped, `\N` is null. */
function escape(cell: Cell): string {
  if (cell === null) return '\\N';
  if (typeof cell === 'number') return String(cell);
  return special.test(cell) ? cell.replace(/[\\\t\n\r]/g, (character) => escapes[character]!) : cell;
}

const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
