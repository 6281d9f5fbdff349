/**
 * Runs one measurement by its name, or those of all budgets one after the other (all-budgets.ts).
 *
 * Usage: npm run bench -- <name> [options of that measurement], or npm run bench [-- --quick] [--record]
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Each is a script that reads its own options. */
const measurements: Record<string, string> = {
  accept: './accept.ts',
  all: './all-budgets.ts',
  start: './start.ts',
  tokens: './tokens.ts',
  console: './console.ts',
  'console-load': './console-load.ts',
  'end-to-end': './end-to-end.ts',
  events: './events.ts',
  fanout: './fanout.ts',
  growth: './growth.ts',
  import: './import.ts',
  lighthouse: './lighthouse.ts',
  latency: './latency.ts',
  metrics: './metrics.ts',
  render: './render.ts',
  profile: './profile.ts',
  'retry-claim': './retry-claim.ts',
  search: './search.ts',
  segment: './segment.ts',
  transport: './transport.ts',
  'transport-soak': './transport-soak.ts',
  'web-push': './web-push.ts',
};

const [, , first = ''] = process.argv;
const name = first === '' || first.startsWith('--') ? 'all' : first;
const script = Object.hasOwn(measurements, name) ? measurements[name]! : undefined;
if (script === undefined) {
  process.stderr.write(`bench: name one of ${Object.keys(measurements).join(', ')}\n`);
  process.exitCode = 2;
} else if (!existsSync(join(import.meta.dirname, script))) {
  process.stderr.write(`bench: ${name} is not part of this version (bench/src/${name}.ts is missing)\n`);
  process.exitCode = 2;
} else {
  await import(script);
}
