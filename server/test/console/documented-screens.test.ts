import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { comparePictures } from '../../../scripts/compare-pictures.ts';
import { describeScreen, openBrowser } from './console-browser.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const picture = (name: string) => join(root, 'docs', 'screens', `${name}.png`);

describeScreen('the pictures of the documentation', () => {
  let page: Page;
  beforeAll(async () => {
    page = await (await openBrowser()).newPage();
  });
  afterAll(() => page?.close());

  test.each([
    ['overview', 'overview-dark'],
    ['campaigns', 'segments'],
    ['campaign', 'campaign-phone'],
    ['deliveries', 'log'],
  ])('%s and %s are not taken for each other', async (one, other) => {
    expect(await comparePictures(page, [picture(one), picture(one)])).toBe(0);
    expect(await comparePictures(page, [picture(one), picture(other)])).toBeGreaterThan(0.06);
  });

  test('are like the screens of a seeded node, within a tolerance', async () => {
    const child = spawn(process.execPath, [join(root, 'bootstrap.js'), 'scripts/make-screens.ts', '--check'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [told, faults] = ['', ''];
    child.stdout.on('data', (piece) => (told += piece));
    child.stderr.on('data', (piece) => (faults += piece));
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ code, unlike: told.split('\n').filter((line) => line.endsWith('take it again')), faults }).toMatchObject({
      code: 0,
      unlike: [],
    });
    expect(told.match(/ differ$/gm)?.length).toBeGreaterThan(25);
  }, 600_000);
});
