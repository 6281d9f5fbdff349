/** `carillon`: the command line of an installation. Each command works with the database, whether or not a node is running. */
import { runCommandLine } from './run-command-line.ts';

await runCommandLine(process.argv.slice(2));
