import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Platform } from '../../src/domain/content/content.ts';
import type { Database } from '../../src/storage/database.ts';

/**
 * A line of a history (docs/checker.md). The order of the lines is the order in which the rig saw things happen: a call is noted
 * before it is sent, and its reply after it was received.
 */
export type HistoryLine = { kind: string; [member: string]: unknown };

export type History = {
  note(line: HistoryLine): void;
  /** Numbers what has a beginning and an end: calls, and the windows of workers. */
  nextNumber(): number;
  text(): string;
};

export function makeHistory(): History {
  const lines: string[] = [];
  let numbers = 0;
  return {
    note: (line) => void lines.push(JSON.stringify(line)),
    nextNumber: () => (numbers += 1),
    text: () => lines.join('\n') + (lines.length > 0 ? '\n' : ''),
  };
}

export type Recorder = Pick<History, 'note' | 'nextNumber'>;

/** Passes lines on to the history of the round that uses an installation; without one, they are dropped. */
export function makeRecorder(history: History | undefined) {
  let current = history;
  return {
    note: (line: HistoryLine): void => current?.note(line),
    nextNumber: (): number => current?.nextNumber() ?? 0,
    follow: (next: History | undefined): void => void (current = next),
    history: (): History | undefined => current,
  };
}

/** Writes a history to a folder, which is made if it does not exist. @returns the path of the file */
export function writeHistory(history: History, { folder, name }: { folder: string; name: string }): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.jsonl`);
  writeFileSync(file, history.text());
  return file;
}

/** A row of the ledger with the address that its device had in the end; null if the device no longer exists. */
export type LedgerRow = { deviceId: string; platform: Platform; pushId: string | null };

/** Notes the devices that were imported before the calls began. */
export async function noteDevices(history: Recorder, { database, addressOf, isWell }: Rows & { isWell: boolean }) {
  const devices = await database<(LedgerRow & { workspace: string; user: string })[]>`
    select devices.workspace_id as workspace, customer_id as "user", devices.id as "deviceId", platform,
      push_id as "pushId"
    from devices join users on users.id = devices.user_id and users.bucket = devices.bucket
    where state = 'ACTIVE' order by devices.id`;
  for (const { workspace, user, platform, ...row } of devices)
    history.note({ kind: 'device', workspace, user, platform, address: addressOf({ platform, ...row }), isWell });
}

type Rows = {
  database: Database;
  /** Returns the address by which the simulated phones know the device. */
  addressOf(row: LedgerRow): string | null;
};

/**
 * Notes what the database holds of runs, requests, the ledger and its counters. The rig reads these tables itself, because no
 * answer of the product may stand for them.
 */
export async function noteRows(history: Recorder, { database, addressOf }: Rows): Promise<void> {
  const note = (kind: string, rows: readonly Record<string, unknown>[]): void => {
    for (const row of rows) history.note({ kind, ...row });
  };
  note(
    'run',
    await database`
      select id, workspace_id as workspace, campaign_id as campaign, status, status_reason as reason,
        (extract(epoch from moment) * 1000)::float8 as occurrence,
        (extract(epoch from created_at) * 1000)::float8 as "createdAt",
        (extract(epoch from started_at) * 1000)::float8 as "startedAt"
      from runs order by created_at, id`,
  );
  note(
    'request',
    await database`
      select workspace_id as workspace, request_id as request, response_id as response, campaign_id as campaign,
        run_id as run
      from push_requests order by response_id`,
  );
  note(
    'count',
    await database`
      select run_id as run, platform, outcome, sum(devices)::int as devices from run_counts
      group by run_id, platform, outcome order by 1, 2, 3`,
  );
  const ledger = await database<(LedgerRow & Record<string, unknown>)[]>`
    select run_id as run, deliveries.workspace_id as workspace, deliveries.device_id as "deviceId", deliveries.platform,
      outcome, code, attempts, push_id as "pushId"
    from readable_deliveries as deliveries
    left join devices on devices.id = deliveries.device_id and devices.bucket = deliveries.bucket
    order by run_id, deliveries.device_id`;
  note(
    'delivery',
    ledger.map((row) => {
      const { deviceId, pushId: _pushId, ...shown } = row;
      return { ...shown, device: deviceId, address: addressOf(row) };
    }),
  );
}

/**
 * Runs the checker on the histories in a folder. It is a separate program, which shares nothing with the product or with the
 * rigs. @returns true if it found no anomaly
 */
export function checkHistories(folder: string): boolean {
  const main = join(import.meta.dirname, '..', '..', '..', 'checker', 'main.ts');
  return spawnSync(process.execPath, [main, folder], { stdio: 'inherit' }).status === 0;
}
