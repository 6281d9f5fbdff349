import type { Node } from '../../server/test/start/start-bundle.ts';
import type { BundleOptions } from '../../server/test/rig/installation.ts';

/** Returns variables that make a Node process write a CPU profile into a folder when it exits normally. */
export function profilingEnvironment(folder: string | undefined): Record<string, string> {
  return folder === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` };
}

/** Makes the nodes of a bundle, including its API, write profiles. */
export function profilingNodes(folder: string | undefined): Pick<BundleOptions, 'startFront'> {
  if (folder === undefined) return {};
  return {
    startFront: () => Promise.resolve({ environment: profilingEnvironment(folder), close: () => Promise.resolve() }),
  };
}

/** Stops the node as an operator does, so that it writes its profile. */
export async function endByItself(node: Node): Promise<void> {
  node.process.kill('SIGTERM');
  await node.exited;
}
