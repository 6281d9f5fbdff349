import { Option } from 'commander';
import type { Command } from 'commander';
import { settings } from '../../start/settings-table.ts';
import type { Setting } from '../../start/settings-table.ts';

/** `carillon start`: runs a node in this process until it is stopped. Its options are the settings that have a flag. */
export function registerStart(program: Command): void {
  const start = program
    .command('start')
    .description('Start a node, by default a sandbox with an embedded database; Ctrl-C stops it')
    .option('--production', 'no demo data and no simulated providers; same as --mode production');
  for (const { flag, kind, sentence } of Object.values(settings) as Setting[]) {
    // The data folder is an option of every command.
    if (flag === undefined || flag === 'data-dir') continue;
    start.addOption(new Option(kind === 'flag' ? `--${flag} [true or false]` : `--${flag} <value>`, sentence));
  }
  start.action(async () => {
    // The node reads the flags itself from the arguments of its process, with the usual checks.
    const words = process.argv.slice(2);
    process.argv = [...process.argv.slice(0, 2), ...words.toSpliced(words.indexOf('start'), 1)];
    await import('../../main.ts');
  });
}
