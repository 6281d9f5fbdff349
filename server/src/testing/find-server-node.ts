import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The oldest Node that the server runs on, as in `engines` of its manifest. */
const oldest = [24, 7] as const;

/**
 * Returns a Node that the server runs on: this one, or the one packaged with the server.
 *
 * @throws Error
 */
export function findServerNode(): string {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  try {
    return join(createRequire(import.meta.url).resolve(`${name}/package.json`), '..', 'bin', 'node');
  } catch {
    throw new Error(`Carillon runs on Node ${oldest.join('.')} or newer; this is ${process.versions.node}.`);
  }
}
