import { stat } from 'node:fs/promises';
import type { Clock } from '../../clock.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { findForeignIds, insertImportedCampaigns } from '../../storage/campaigns/authored-campaigns.ts';
import type { ImportedCampaign } from '../../storage/campaigns/authored-campaigns.ts';
import { openImportFile } from './open-import-file.ts';
import { parseCampaignLine } from './parse-campaign-line.ts';
import { readLines } from './read-lines.ts';
import { makeRejectsFile } from './rejects-file.ts';
import type { Reject } from './rejects-file.ts';

export type CampaignImportProgress = {
  lines: number;
  /** Bytes of the file read, compressed or not. */
  bytes: number;
  totalBytes: number;
  campaigns: number;
  /** Records that were there before: a file may be loaded again. */
  known: number;
  rejected: number;
  firstReject: Reject | undefined;
};

export type CampaignImport = {
  workspaceId: string;
  path: string;
  onProgress: (progress: CampaignImportProgress) => void;
};

const batchCampaigns = 1_000;

/**
 * Loads a file of JSON lines (`.gz` too) with one campaign a line, as campaign search shows it, for history: records that
 * are found and never sent. Batches of 1,000 are one transaction each, in bounded memory; a killed import is run again
 * and adds what is not there. Refused lines go to `<file>.rejects.ndjson` with their number and reason.
 */
export async function importCampaignsFile(
  { database, clock }: { database: Database; clock: Clock },
  { workspaceId, path, onProgress }: CampaignImport,
): Promise<CampaignImportProgress> {
  const { size } = await stat(path);
  const progress: CampaignImportProgress = {
    lines: 0,
    bytes: 0,
    totalBytes: size,
    campaigns: 0,
    known: 0,
    rejected: 0,
    firstReject: undefined,
  };
  const rejects = makeRejectsFile(`${path}.rejects.ndjson`, { isContinued: false });
  const now = clock.now();
  // By id, with the number of the line: of repeats in a batch the first counts, as it does between batches.
  let batch = new Map<string, { line: number; campaign: ImportedCampaign }>();
  const reject = async (line: number, reason: string): Promise<void> => {
    progress.rejected += 1;
    progress.firstReject ??= { line, reason };
    await rejects.add([{ line, reason }]);
  };
  const store = async (): Promise<void> => {
    const campaigns = [...batch.values()].map(({ campaign }) => campaign);
    const { added, foreign } = await storeBatch(database, { workspaceId, campaigns });
    for (const id of foreign) await reject(batch.get(id)!.line, "'id' is that of another campaign");
    progress.campaigns += added;
    progress.known += batch.size - added - foreign.size;
    batch = new Map();
    onProgress({ ...progress });
  };
  try {
    for await (const line of readLines(openImportFile(path, progress))) {
      progress.lines += 1;
      const parsed = parseCampaignLine(line, { workspaceId, now });
      if (parsed === undefined) continue;
      if ('reason' in parsed) await reject(progress.lines, parsed.reason);
      else if (batch.has(parsed.campaign.id)) progress.known += 1;
      else batch.set(parsed.campaign.id, { line: progress.lines, campaign: parsed.campaign });
      if (batch.size >= batchCampaigns) await store();
    }
    if (batch.size > 0) await store();
    return progress;
  } finally {
    await rejects.close();
  }
}

type Batch = { workspaceId: string; campaigns: ImportedCampaign[] };

async function storeBatch(database: Database, batch: Batch): Promise<{ added: number; foreign: ReadonlySet<string> }> {
  return await inTransaction(database, async (tx) => {
    const added = await insertImportedCampaigns(tx, batch);
    const present = batch.campaigns.map(({ id }) => id).filter((id) => !added.has(id));
    const { workspaceId } = batch;
    const foreign = present.length === 0 ? new Set<string>() : await findForeignIds(tx, { workspaceId, ids: present });
    return { added: added.size, foreign };
  });
}
