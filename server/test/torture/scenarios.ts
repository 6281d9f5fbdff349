import type { TortureOptions } from '../rig/installation.ts';
import type { Report } from '../rig/report.ts';
import { apiCrash } from './api-crash.ts';
import { lostCommits, terminatedSessions } from './broken-connections.ts';
import { deadlyDevice, everyZone } from './deadly-device.ts';
import { cappedCampaigns, killDatabase, killWorkers, stopWorkers } from './disturbed-campaigns.ts';
import { frozenWorker } from './frozen-worker.ts';
import { fullDisk } from './full-disk.ts';
import { providerFaults } from './provider-faults.ts';
import { killNode, killNodeAtWork } from './sole-node.ts';

type Scenario = {
  play(options: TortureOptions): Promise<Report>;
  /**
   * How often it is drawn, relative to the others, when rounds are drawn by seed. A drawn round is one kill, stop or cut at a
   * random moment, and its audit; 0: there is no such moment, or waiting for it takes minutes.
   */
  share: number;
};

/** One line each, so that one more is one more line. */
export const scenarios: Record<string, Scenario> = {
  'kill-workers': { share: 0, play: (options) => killWorkers({ ...options, workers: 2, leases: 'waited out' }) },
  'kill-worker': { share: 4, play: (options) => killWorkers({ ...options, workers: 1, leases: 'ended' }) },
  'kill-node': { share: 2, play: killNode },
  'kill-node-at-work': { share: 3, play: killNodeAtWork },
  'deadly-device': { share: 0, play: deadlyDevice },
  'every-zone': { share: 0, play: everyZone },
  'capped-campaigns': { share: 2, play: cappedCampaigns },
  'stop-workers': { share: 3, play: (options) => stopWorkers({ ...options, workers: 2 }) },
  'frozen-worker': { share: 0, play: (options) => frozenWorker({ ...options, firstLease: 'waited out' }) },
  'freeze-worker': { share: 2, play: (options) => frozenWorker({ ...options, firstLease: 'ended' }) },
  'kill-database': { share: 4, play: (options) => killDatabase({ ...options, workers: 2 }) },
  'full-disk': { share: 1, play: fullDisk },
  'terminated-sessions': { share: 1, play: terminatedSessions },
  'api-crash': { share: 4, play: apiCrash },
  'provider-faults': { share: 0, play: providerFaults },
  'lost-commits': { share: 2, play: (options) => lostCommits({ ...options, front: 'none' }) },
  'lost-commits-pooled': { share: 1, play: (options) => lostCommits({ ...options, front: 'pooler' }) },
};
