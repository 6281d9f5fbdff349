import type { Command } from 'commander';
import type { Config } from '../start/config.ts';
import { settings } from '../start/settings-table.ts';
import { readSettings } from './command-context.ts';

/** `carillon config`: the settings as this machine sees them. */
export function registerConfig(program: Command): void {
  program
    .command('config')
    .description('Settings')
    .command('print')
    .description('Show every setting as this machine sees it; secrets are masked')
    .action(() => printConfig(readSettings(program)));
}

/** Every setting with its variable; secrets are masked. */
function printConfig(config: Config): void {
  for (const [name, setting] of Object.entries(settings)) {
    const value = config[name as keyof Config];
    const isSecret = setting.kind === 'secret' || setting.kind === 'bytes32';
    const shown = value === undefined ? '(not set)' : isSecret ? '(set)' : String(value);
    process.stdout.write(`${setting.variable.padEnd(34)}${shown}\n`);
  }
}
