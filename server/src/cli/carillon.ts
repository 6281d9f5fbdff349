/** `carillon`: the command line of an installation. Each command talks to the database of a running or resting node. */
import { runCommandLine } from './run-command-line.ts';

await runCommandLine(process.argv.slice(2));
