import { once } from 'node:events';
import { bucketOf } from '../../domain/audience/bucket.ts';
import { addressHash, pushIdValue } from '../../domain/audience/device-identifier.ts';
import { identifiersOf } from '../../domain/audience/identifier.ts';
import { makeId } from '../../domain/ids.ts';
import { copyInto } from '../../storage/sql/user-import.ts';
import type { ImportSession, StagedTable } from '../../storage/sql/user-import.ts';
import type { ImportedUser } from './parse-user-line.ts';

export type CopiedCounts = { users: number; devices: number };

// Large enough to keep the connection busy, small enough to keep memory flat.
const pieceCharacters = 256 * 1024;

/** Copies a batch into the staging tables. A push address that two users claim goes to the later one. */
export async function copyBatch(
  session: ImportSession,
  { users, at }: { users: ImportedUser[]; at: Date },
): Promise<CopiedCounts> {
  const owners = new Map<string, string>();
  for (const { customerId, devices } of users) for (const device of devices) owners.set(device.pushId, customerId);
  let devices = 0;

  await copy(session, 'import_users', function* () {
    for (const { customerId, attributes } of users) {
      const kept = Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null));
      const removed = Object.keys(attributes).filter((name) => attributes[name] === null);
      yield [bucketOf(customerId), makeId(at), customerId, JSON.stringify(kept), toArrayText(removed)];
    }
  });
  await copy(session, 'import_identifiers', function* () {
    for (const { customerId, attributes } of users) {
      for (const { attribute, type, value } of identifiersOf(attributes)) yield [customerId, attribute, type, value];
    }
  });
  await copy(session, 'import_devices', function* () {
    for (const user of users) {
      for (const device of lastOfEach(user, owners)) {
        devices += 1;
        yield deviceRow(user.customerId, device, at);
      }
    }
  });
  return { users: users.length, devices };
}

/** One device a name and an address: of repeats the last stands, and none whose address another user has later. */
function lastOfEach(user: ImportedUser, owners: Map<string, string>): ImportedUser['devices'] {
  const byName = new Map(user.devices.map((device) => [device.deviceId, device]));
  const byAddress = new Map([...byName.values()].map((device) => [device.pushId, device]));
  return [...byAddress.values()].filter((device) => owners.get(device.pushId) === user.customerId);
}

function deviceRow(customerId: string, device: ImportedUser['devices'][number], at: Date): Cell[] {
  return [
    customerId,
    bucketOf(customerId),
    makeId(at),
    device.deviceId,
    device.platform,
    device.pushId,
    `\\x${addressHash(device.pushId).toString('hex')}`,
    pushIdValue(device.pushId),
    device.isOptedOut ? 'OPTED_OUT' : 'ACTIVE',
    device.isProvisional ? 't' : 'f',
    device.model,
    device.appVersion,
    device.osVersion,
    device.gaid,
    device.idfv,
  ];
}

/** PostgreSQL's text of an array of texts. */
function toArrayText(texts: string[]): string {
  return `{${texts.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;
}

type Cell = string | number | null;

async function copy(session: ImportSession, table: StagedTable, rows: () => Generator<Cell[]>): Promise<void> {
  const stream = await copyInto[table](session);
  const finished = once(stream, 'finish');
  let piece = '';
  for (const row of rows()) {
    piece += `${row.map(escape).join('\t')}\n`;
    if (piece.length < pieceCharacters) continue;
    if (!stream.write(piece)) await once(stream, 'drain');
    piece = '';
  }
  stream.end(piece);
  await finished;
}

/** PostgreSQL's text format: backslash, tab and line ends are escaped, `\N` is null. */
function escape(cell: Cell): string {
  if (cell === null) return '\\N';
  if (typeof cell === 'number') return String(cell);
  return cell.replace(/[\\\t\n\r]/g, (character) => escapes[character]!);
}

const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
