import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { installClient } from './install-client.ts';
import { matchOutput } from './match-output.ts';
import { openShell } from './open-shell.ts';
import type { RecipeStep } from './read-recipe.ts';

/** What somebody does outside of the shell, by the name that the page gives it. */
export type ByHand = Record<string, () => Promise<void>>;

/** Follows a recipe in a folder of its own, as its reader would, and holds what it prints to what the page shows. */
export async function runRecipe(
  steps: RecipeStep[],
  { environment, byHand = {} }: { environment: Record<string, string>; byHand?: ByHand },
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-recipe-'));
  if (steps.some((step) => step.kind === 'file' && step.text.includes('@carillon/client'))) await installClient(folder);
  const shell = openShell({ folder, environment });
  try {
    for (const step of steps) {
      switch (step.kind) {
        case 'file':
          await writeFile(join(folder, step.name), step.text);
          break;
        case 'by hand':
          expect(Object.keys(byHand), `line ${step.line}`).toContain(step.name);
          await byHand[step.name]!();
          break;
        case 'command': {
          const { printed, status } = await shell.run(step.text);
          expect(status, `line ${step.line} printed\n${printed}`).toBe(0);
          // Compared as texts only where they differ: that shows the difference.
          if (!matchOutput(step.output ?? '', printed)) expect(printed, `line ${step.line}`).toBe(step.output ?? '');
          break;
        }
      }
    }
  } finally {
    await shell.close();
    await rm(folder, { recursive: true, force: true });
  }
}
