import { statfs } from 'node:fs/promises';
import type { MachineFacts } from '../app/system/system.ts';

/** Returns facts about this process and its machine; the disk is that of the given folder. */
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
  // If the folder cannot be read, the other facts are still shown.
  const facts = await statfs(folder).catch(() => undefined);
  return facts ? { freeBytes: facts.bavail * facts.bsize, totalBytes: facts.blocks * facts.bsize } : null;
}
