import { exitCodes, StartError, toStartError } from '../start/start-errors.ts';
import { makeProgram } from './make-program.ts';

/** Runs the command that the words after `carillon` name, in this process; a failure ends it with its documented code. */
export async function runCommandLine(words: string[]): Promise<void> {
  try {
    const program = await makeProgram(words);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    const startError = toStartError(toFileRefusal(error) ?? error);
    process.stderr.write(`carillon: ${startError.message}\n`);
    process.exit(exitCodes[startError.code].code);
  }
}

/** A file that a command was given is what was typed, and no fault of the command's. */
function toFileRefusal(error: unknown): StartError | undefined {
  const { path, syscall, message } = error as NodeJS.ErrnoException;
  if (path === undefined || syscall === undefined || error instanceof StartError) return undefined;
  return new StartError('SETTING_INVALID', `The file ${path} cannot be used: ${message}.`, error);
}
