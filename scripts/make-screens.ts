/**
 * Takes the pictures of docs/screens/: starts a node with a fresh database, sends the push of the start block, and
 * photographs the console in Chromium. Usage: npm run console:screens
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { makeCarillonClient } from '../client/src/index.ts';

const root = join(import.meta.dirname, '..');
const folder = await mkdtemp(join(tmpdir(), 'carillon-screens-'));
const main = join(root, 'server', 'src', 'main.ts');
const parameters = ['--data-dir', folder, '--port', '0', '--json', '--seed', '1'];
const node = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...parameters], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const [line] = (await once(createInterface({ input: node.stdout }), 'line')) as [string];
  const start = JSON.parse(line) as { url: string; console: string; workspaceId: string; keys: { push: string } };
  const client = makeCarillonClient({ baseUrl: start.url, workspaceId: start.workspaceId, pushKey: start.keys.push });
  const text = { title: 'Spring sale', message: 'Everything 20 % off until Sunday' };
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(start.console);
  const { cid } = await client.sendPush({
    campaignName: 'Spring sale',
    targetPlatform: ['ANDROID', 'IOS', 'WEB'],
    targetAudience: 'All Users',
    payload: {
      ANDROID: text,
      IOS: text,
      WEB: { ...text, redirectURL: 'https://example.com/sale', iconURL: 'https://example.com/icon.png' },
    },
    campaignDelivery: { type: 'soon' },
  });
  await page.getByText('Everything 20 % off until Sunday').nth(2).waitFor();
  await page.getByText('SENT', { exact: true }).first().waitFor();
  await page.screenshot({ path: join(root, 'docs', 'screens', 'overview.png'), fullPage: true });
  await page.goto(`${start.url}/console/w/${start.workspaceId}/campaigns/${cid}`);
  await page.getByText('SENT', { exact: true }).first().waitFor();
  await page.locator('.uplot canvas').waitFor();
  await page.screenshot({ path: join(root, 'docs', 'screens', 'campaign.png'), fullPage: true });
  process.stdout.write('docs/screens/overview.png and campaign.png written\n');
} finally {
  await browser.close();
  node.kill('SIGTERM');
  await once(node, 'exit');
  await rm(folder, { recursive: true, force: true });
}
