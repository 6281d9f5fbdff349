/**
 * Measures the time from opening the console's URL until the overview shows its verdict, in Chromium, with the built console on
 * this machine: first with an empty cache, then again.
 *
 * Usage: npm run bench -- console-load [--rounds N]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { readConfig } from '../../server/src/start/config.ts';
import { startCarillon } from '../../server/src/start/node/start-carillon.ts';

const { values } = parseArgs({ args: process.argv.slice(3), options: { rounds: { type: 'string', default: '10' } } });
const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
const carillon = await startCarillon(
  readConfig({
    environment: { CARILLON_DATA_DIR: folder, CARILLON_LOG_LEVEL: 'error' },
    arguments: ['--port', '0'],
  }),
);
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const home = `${carillon.block.url}/console/w/${carillon.block.workspaceId}`;
  const signedIn = await browser.newContext();
  const page = await signedIn.newPage();
  await page.goto(carillon.block.console);
  await page.getByText('All is well').waitFor();
  const storageState = await signedIn.storageState();
  const cold: number[] = [];
  const warm: number[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    // A new context has an empty cache; the session is carried over.
    const context = await browser.newContext({ storageState });
    const opened = await context.newPage();
    for (const times of [cold, warm]) {
      await opened.goto(home, { waitUntil: 'commit' });
      await opened.getByText('All is well').waitFor();
      // Uses the navigation's own clock, because an outside wait ends a little later.
      times.push(Number(await opened.evaluate('performance.now()')));
    }
    await context.close();
  }
  const say = (name: string, times: number[]): string => {
    const sorted = times.toSorted((one, other) => one - other);
    const at = (share: number): string => `${Math.round(sorted[Math.floor((sorted.length - 1) * share)]!)} ms`;
    return `${name.padEnd(14)} median ${at(0.5)}, slowest ${at(1)}\n`;
  };
  process.stdout.write(say('empty cache', cold) + say('once more', warm));
} finally {
  await browser.close();
  await carillon.stop();
  await rm(folder, { recursive: true, force: true });
}
