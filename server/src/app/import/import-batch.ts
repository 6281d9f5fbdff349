import { findRetainedCustomerIds, hasMergedUsers } from '../../storage/users/merged-users.ts';
import { analyzeTable, analyzeUsers, makeUserStaging } from '../../storage/users/user-import.ts';
import type { ImportCounts, ImportKind } from '../../storage/users/user-import.ts';
import { makeDeviceStaging, storeStagedDevices } from '../../storage/devices/devices.ts';
import { makeEventStaging, storeStagedEvents } from '../../storage/users/events.ts';
import type { Queryable, Session } from '../../storage/database.ts';
import { eventDay } from '../users/events.ts';
import { copyDevices, copyEvents, copyUsers, storeUsers } from './copy-batch.ts';
import type { CustomerDevices, StagedUser } from './copy-batch.ts';
import { eventFromCells, parseEventRow, isRecord, parseDeviceRow, parseUserRow } from './parse-rows.ts';
import type { ImportedEvent, DeviceRowRules, ImportedUser, UserRowRules } from './parse-rows.ts';
import type { CsvRules } from './read-rows.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

type Stored = Pick<ImportCounts, 'users' | 'devices' | 'events'> & { rejects: { line: number; reason: string }[] };

/** Rows of one file that are stored in one transaction. */
export type Batch = {
  size(): number;
  /** @returns why the row is invalid, or undefined */
  add(value: unknown, line: number): string | undefined;
  /**
   * True if both batches may be stored at the same time: they share no row, whatever the order. Called when both are staged.
   */
  isApart(other: Batch): boolean;
  /** The customer ids of all rows that it changes; undefined if it may change rows of other users too. */
  customers(): ReadonlySet<string> | undefined;
  /** Copies the rows while the database does other work; nothing is stored yet. */
  stage(session: Queryable, at: Date): Promise<void>;
  /** Stores the staged rows, in the caller's transaction. */
  store(session: Queryable, at: Date): Promise<Stored>;
};

export type ImportBatches = {
  /** Converts the cells of a CSV row, and names the columns that each row requires. */
  csv: CsvRules;
  prepare(session: Session): Promise<void>;
  begin(now: Date): Batch;
  /** Refreshes statistics at the end: without them the planner reads filled tables 25 to 40 times slower (finding 9). */
  finish(session: Queryable): Promise<void>;
};

/** Returns how the rows of a kind of file are collected, staged and stored. */
export function makeImportBatches(
  kind: ImportKind,
  { workspaceId, ...rules }: { workspaceId: string } & UserRowRules,
): ImportBatches {
  switch (kind) {
    case 'users':
      return batchUsers(workspaceId, rules);
    case 'devices':
      return batchDevices(workspaceId, rules);
    case 'events':
      return batchEvents(workspaceId, rules.prefixes);
    default:
      return unknownCase(kind);
  }
}

function batchUsers(workspaceId: string, rules: UserRowRules): ImportBatches {
  return {
    csv: { fromCells: userFromCells, requiredColumns: ['customer_id'] },
    async prepare(session) {
      await makeUserStaging(session);
      await makeDeviceStaging(session);
    },
    begin() {
      const users = new Map<string, ImportedUser & { line: number }>();
      let own: ReadonlySet<string> | undefined;
      let staged: StagedUser[] = [];
      let devices = 0;
      return {
        size: () => users.size,
        isApart: (other) => isApart(own, other.customers()),
        customers: () => own,
        add(value, line) {
          const parsed = parseUserRow(value, rules);
          if ('reason' in parsed) return parsed.reason;
          // If a customer id repeats within a batch, the last line counts, so that the batch has one row per customer id.
          users.delete(parsed.user.customerId);
          users.set(parsed.user.customerId, { ...parsed.user, line });
          return undefined;
        },
        async stage(session, at) {
          const meant = await resolveMerged(session, { workspaceId, rows: [...users.values()] });
          staged = await copyUsers(session, { users: combine(meant), at });
          const customers = meant.map(({ customerId, devices: given, line }) => ({
            customerId,
            devices: given.map((device) => ({ ...device, line })),
          }));
          devices = await copyDevices(session, { customers, at });
          // A device may take its address from any user.
          own = devices === 0 ? new Set(meant.map(({ customerId }) => customerId)) : undefined;
        },
        async store(session, at) {
          await storeUsers(session, { users: staged, workspaceId, at });
          await storeStagedDevices(session, { workspaceId, at });
          return { users: users.size, devices, events: 0, rejects: [] };
        },
      };
    },
    finish: analyzeUsers,
  };
}

/** A column `attributes:json` holds several attributes at once, as an export writes them. */
function userFromCells({ customer_id, attributes, ...others }: Record<string, unknown>): unknown {
  const given = attributes === undefined ? {} : { attributes };
  return { customer_id, attributes: isRecord(attributes) ? { ...attributes, ...others } : { ...others, ...given } };
}

function isApart(ours: ReadonlySet<string> | undefined, theirs: ReadonlySet<string> | undefined): boolean {
  if (!ours || !theirs) return false;
  for (const customerId of ours) if (theirs.has(customerId)) return false;
  return true;
}

/** Combines users whose merged and own customer ids are both in a batch into one row; the later line's values win. */
function combine(users: ImportedUser[]): ImportedUser[] {
  const combined = new Map<string, ImportedUser>();
  for (const user of users) {
    const before = combined.get(user.customerId);
    combined.set(
      user.customerId,
      before ? { ...user, attributes: { ...before.attributes, ...user.attributes } } : user,
    );
  }
  return [...combined.values()];
}

function batchDevices(workspaceId: string, rules: DeviceRowRules): ImportBatches {
  return {
    csv: { fromCells: (cells) => cells, requiredColumns: ['customer_id', 'device_id', 'platform', 'push_id'] },
    prepare: makeDeviceStaging,
    begin() {
      const customers = new Map<string, CustomerDevices>();
      let devices = 0;
      return {
        size: () => customers.size,
        isApart: () => false,
        customers: () => undefined,
        add(value, line) {
          const parsed = parseDeviceRow(value, rules);
          if ('reason' in parsed) return parsed.reason;
          const { customerId, device } = parsed;
          const before = customers.get(customerId)?.devices ?? [];
          customers.delete(customerId);
          customers.set(customerId, { customerId, devices: [...before, { ...device, line }] });
          return undefined;
        },
        async stage(session, at) {
          const meant = await resolveMerged(session, { workspaceId, rows: [...customers.values()] });
          devices = await copyDevices(session, { customers: meant, at });
        },
        async store(session, at) {
          const strangers = await storeStagedDevices(session, { workspaceId, at });
          const rejects = strangers.map((line) => ({ line, reason: "'customer_id' must exist" }));
          return { users: 0, devices: devices - rejects.length, events: 0, rejects };
        },
      };
    },
    finish: analyzeUsers,
  };
}

function batchEvents(workspaceId: string, prefixes: readonly string[]): ImportBatches {
  return {
    csv: { fromCells: eventFromCells, requiredColumns: ['customer_id', 'action', 'user_time'] },
    prepare: makeEventStaging,
    begin(now) {
      const events: ImportedEvent[] = [];
      return {
        size: () => events.length,
        isApart: () => false,
        customers: () => undefined,
        add(value) {
          const parsed = parseEventRow(value, { now, prefixes });
          if ('reason' in parsed) return parsed.reason;
          events.push(parsed.event);
          return undefined;
        },
        async stage(session, at) {
          await copyEvents(session, { events: await resolveMerged(session, { workspaceId, rows: events }), at });
        },
        async store(session, at) {
          await storeStagedEvents(session, { workspaceId, day: eventDay(at), at });
          return { users: 0, devices: 0, events: events.length, rejects: [] };
        },
      };
    },
    async finish(session) {
      for (const table of ['users', 'events']) await analyzeTable(session, table);
    },
  };
}

/** Replaces merged customer ids with the retained ones (docs/decisions/0012). */
async function resolveMerged<Row extends { customerId: string }>(
  session: Queryable,
  { workspaceId, rows }: { workspaceId: string; rows: Row[] },
): Promise<Row[]> {
  if (!(await hasMergedUsers(session, workspaceId))) return rows;
  const customerIds = [...new Set(rows.map(({ customerId }) => customerId))];
  const merged = await findRetainedCustomerIds(session, { workspaceId, customerIds });
  const meant = new Map(merged.map(({ customerId, retained }) => [customerId, retained]));
  return rows.map((row) => ({ ...row, customerId: meant.get(row.customerId) ?? row.customerId }));
}
