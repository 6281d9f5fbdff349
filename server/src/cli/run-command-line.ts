import { exitCodes, toStartError } from '../start/start-errors.ts';
import { makeProgram } from './make-program.ts';

/** Runs the command that the words after `carillon` name, in this process; a failure ends it with its documented code. */
export async function runCommandLine(words: string[]): Promise<void> {
  try {
    const program = await makeProgram(words);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    const startError = toStartError(error);
    process.stderr.write(`carillon: ${startError.message}\n`);
    process.exit(exitCodes[startError.code].code);
  }
}
