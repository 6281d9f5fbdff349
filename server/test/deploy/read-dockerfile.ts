import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

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

/** What the last of an instruction says. @throws when there is none */
export function textOf(stage: readonly Instruction[], name: string): string {
  const found = stage.findLast((instruction) => instruction.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found.text;
}
