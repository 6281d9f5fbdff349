import { settings } from '../config.ts';
import type { Config } from '../config.ts';

/** `carillon config print`: every setting with its variable; secrets are masked. */
export async function printConfigCommand(config: Config): Promise<void> {
  for (const [name, setting] of Object.entries(settings)) {
    const value = config[name as keyof Config];
    const isSecret = setting.kind === 'secret' || setting.kind === 'bytes32';
    const shown = value === undefined ? '(not set)' : isSecret ? '(set)' : String(value);
    process.stdout.write(`${setting.variable.padEnd(34)}${shown}\n`);
  }
}
