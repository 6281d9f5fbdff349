import type { Command } from 'commander';
import type { Config } from '../../start/config.ts';
import { settings } from '../../start/settings-table.ts';
import { readSettings } from '../command-context.ts';
import { jsonLineOption } from '../command-options.ts';
import { printJsonLine } from '../print-table.ts';

/** `carillon config`: the settings as read on this machine. */
export function registerConfig(program: Command): void {
  program
    .command('config')
    .description('Settings of this machine')
    .command('print')
    .description('Show every setting as read on this machine; secrets are masked')
    .option(...jsonLineOption)
    .action((options: { json?: true }) => printConfig(readSettings(program), options));
}

/** Prints every setting with its variable; secrets are masked. */
function printConfig(config: Config, { json }: { json?: true }): void {
  const shownByVariable: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const value = config[name as keyof Config];
    const isSecret = setting.kind === 'secret' || setting.kind === 'bytes32';
    shownByVariable[setting.variable] = value === undefined ? null : isSecret ? '(set)' : toPlainValue(value);
    const shown = value === undefined ? '(not set)' : isSecret ? '(set)' : String(value);
    if (!json) process.stdout.write(`${setting.variable.padEnd(34)}${shown}\n`);
  }
  if (json) printJsonLine(shownByVariable);
}

function toPlainValue(value: Config[keyof Config]): unknown {
  return typeof value === 'number' || typeof value === 'boolean' || Array.isArray(value) ? value : String(value);
}
