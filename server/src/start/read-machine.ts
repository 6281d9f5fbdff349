import { statfs } from 'node:fs/promises';
import type { MachineFacts } from '../app/system/system.ts';

/** This process and its machine; the disk is that of the given folder. */
export async function readMachine(folder: string | undefined): Promise<MachineFacts> {
  return {
    uptimeSeconds: Math.floor(process.uptime()),
    memoryBytes: process.memoryUsage.rss(),
    runtime: `Node ${process.versions.node}`,
    platform: `${process.platform} ${process.arch}`,
    disk: folder === undefined ? null : await readDisk(folder),
  };
}

async function readDisk(folder: string): Promise<MachineFacts['disk']> {
  // A folder that cannot be looked at is no reason to show nothing else.
  const facts = await statfs(folder).catch(() => undefined);
  return facts ? { freeBytes: facts.bavail * facts.bsize, totalBytes: facts.blocks * facts.bsize } : null;
}
