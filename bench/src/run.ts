/**
 * Runs one measurement by its name.
 *
 * Usage: npm run bench -- <name> [options of that measurement]
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Each is a script that reads its options itself. */
const measurements: Record<string, string> = {
  accept: './accept.ts',
  console: './console.ts',
  'console-load': './console-load.ts',
  fanout: './fanout.ts',
  import: './import.ts',
  render: './render.ts',
  search: './search.ts',
  segment: './segment.ts',
  transport: './transport.ts',
};

const name = process.argv[2] ?? '';
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
