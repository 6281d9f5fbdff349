import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../read-dockerfile.ts';

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
