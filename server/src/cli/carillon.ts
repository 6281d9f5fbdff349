/** `carillon`: the command line of an installation. Each command talks to the database of a running or resting node. */
import { exitCodes, toStartError } from '../start/start-errors.ts';
import { makeProgram } from './make-program.ts';

try {
  await (await makeProgram(process.argv.slice(2))).parseAsync();
} catch (error) {
  const startError = toStartError(error);
  process.stderr.write(`carillon: ${startError.message}\n`);
  process.exit(exitCodes[startError.code].code);
}
