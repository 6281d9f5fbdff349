#!/usr/bin/env node
// `carillon` as the packed server starts it: on whatever Node the caller has (20 or newer), which hands over to one that
// the server runs on. Plain JavaScript, because it is what npm runs.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findServerNode } from './server/src/testing/find-server-node.js';

const script = join(fileURLToPath(new URL('.', import.meta.url)), 'server', 'src', 'cli', 'carillon.js');
const flags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16'];
let node;
try {
  node = findServerNode();
} catch (error) {
  process.stderr.write(`carillon: ${error.message}\n`);
  process.exit(1);
}
const child = spawn(node, [...flags, script, ...process.argv.slice(2)], { stdio: 'inherit' });
// A terminal sends Ctrl-C to the whole group; this process only waits, and repeats the exit code.
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
