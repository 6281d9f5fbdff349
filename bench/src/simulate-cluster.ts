/**
 * Simulates how long a campaign takes on a cluster, what limits it and the load of the databases, with the constants of the
 * code and the values of `bench/results/cluster-values.json`. No part of the product runs and nothing is sent, unless the
 * values are measured or compared.
 *
 * Usage: npm run simulate -- --devices 100000000 --nodes 20 --seed 1 (all options: --help)
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readClusterValues } from './cluster/cluster-values.ts';
import { documentTables } from './cluster/document-tables.ts';
import { presentReport, presentTable } from './cluster/present-report.ts';
import { OptionError, readOptions, usage } from './cluster/read-options.ts';
import type { Command } from './cluster/read-options.ts';
import { readValuesFile } from './cluster/values-file.ts';
import { EndlessCampaignError, simulateCampaign } from './cluster/simulate-campaign.ts';

const pagePath = join(import.meta.dirname, '..', '..', 'docs', 'capacity.md');
const valuesPath = join(import.meta.dirname, '..', 'results', 'cluster-values.json');

try {
  await carryOut(readOptions(process.argv.slice(2)));
} catch (error) {
  const isExpected = error instanceof OptionError || error instanceof EndlessCampaignError;
  if (!isExpected) throw error;
  process.stderr.write(
    `simulate: ${error.message}${error instanceof OptionError ? ' (--help shows all options)' : ''}\n`,
  );
  process.exitCode = error instanceof OptionError ? 2 : 1;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function carryOut(command: Command): Promise<void> {
  switch (command.kind) {
    case 'help':
      process.stdout.write(usage);
      return;
    case 'simulate':
      return simulate(command);
    case 'measure': {
      // The parts of the product are loaded only where they run.
      const { measureCluster } = await import('./cluster/measure-cluster.ts');
      return measureCluster({ say, record: (file) => writeFile(valuesPath, `${JSON.stringify(file, null, 2)}\n`) });
    }
    case 'validate': {
      const { validateCluster } = await import('./cluster/validate-cluster.ts');
      const isClose = await validateCluster(await readValuesFile(valuesPath), say);
      if (!isClose) process.exitCode = 1;
      return;
    }
    case 'document':
      return documentCapacity();
    default: {
      const never: never = command;
      throw new Error(`unknown command ${JSON.stringify(never)}`);
    }
  }
}

async function simulate({ scenarios, replaced, format }: Extract<Command, { kind: 'simulate' }>): Promise<void> {
  const { values: rows } = await readValuesFile(valuesPath);
  const values = readClusterValues(rows, replaced);
  const results = scenarios.map((scenario) => simulateCampaign(scenario, values));
  if (format === 'json') process.stdout.write(`${JSON.stringify(results.length === 1 ? results[0] : results)}\n`);
  else process.stdout.write(results.length === 1 ? presentReport(results[0]!) : presentTable(results));
}

async function documentCapacity(): Promise<void> {
  const { values: rows } = await readValuesFile(valuesPath);
  const present = (words: string[]): string => {
    const command = readOptions(words);
    if (command.kind !== 'simulate') throw new OptionError(`docs/capacity.md has no table of ${words.join(' ')}`);
    say(`npm run simulate -- ${words.join(' ')}`);
    const values = readClusterValues(rows, command.replaced);
    return presentTable(command.scenarios.map((scenario) => simulateCampaign(scenario, values)));
  };
  await writeFile(pagePath, documentTables(await readFile(pagePath, 'utf8'), present));
}
