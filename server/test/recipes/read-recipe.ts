/** What a recipe's page tells its reader to do, in order. */
export type RecipeStep =
  | { kind: 'file'; name: string; text: string }
  | { kind: 'command'; text: string; line: number; output: string | undefined }
  | { kind: 'by hand'; name: string; line: number };

/**
 * Reads a page of `docs/recipes`. A block whose language is followed by a name is a file of the reader's; `sh` is run; a `text`
 * block after it is what it prints. `<!-- by hand: name -->` marks what somebody does outside of the shell.
 *
 * @throws Error for a block that nobody would run or compare
 */
export function readRecipe(page: string): RecipeStep[] {
  const steps: RecipeStep[] = [];
  let isOutputNext = false;
  for (const found of page.matchAll(/^```([^\n]*)\n([^]*?)^```$|^<!-- by hand: (.+) -->$/gm)) {
    const [, info, text, byHand] = found;
    const line = page.slice(0, found.index).split('\n').length;
    const [language = '', name] = (info ?? '').split(' ');
    const last = steps.at(-1);
    if (byHand !== undefined) steps.push({ kind: 'by hand', name: byHand, line });
    else if (name !== undefined) steps.push({ kind: 'file', name, text: text! });
    else if (language === 'sh') steps.push({ kind: 'command', text: text!, line, output: undefined });
    else if (language === 'text' && isOutputNext && last?.kind === 'command') last.output = text!;
    else throw new Error(`line ${line}: a block of "${info}" that is not run, not a file and no output`);
    isOutputNext = language === 'sh' && byHand === undefined;
  }
  return steps;
}
