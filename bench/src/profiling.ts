import type { Node } from '../../server/test/start/start-bundle.ts';
import type { BundleOptions } from '../../server/test/torture/torture-bundle.ts';

/** What has a process of Node write a CPU profile into a folder when it ends by itself. */
export function profilingEnvironment(folder: string | undefined): Record<string, string> {
  return folder === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` };
}

/** The nodes of a bundle, its API too, write theirs. */
export function profilingNodes(folder: string | undefined): Pick<BundleOptions, 'startFront'> {
  if (folder === undefined) return {};
  return {
    startFront: () => Promise.resolve({ environment: profilingEnvironment(folder), close: () => Promise.resolve() }),
  };
}

/** Its profile is written when it stops as an operator stops it. */
export async function endByItself(node: Node): Promise<void> {
  node.process.kill('SIGTERM');
  await node.exited;
}
