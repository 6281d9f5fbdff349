import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { hasChromium, skipReason } from '../console/console-browser.ts';
import { matchOutput } from './match-output.ts';
import { openShell } from './open-shell.ts';
import { playSubscribingBrowser } from './play-subscribing-browser.ts';
import { readWebhookSecret } from './read-webhook-secret.ts';
import { readRecipe } from './read-recipe.ts';
import { runRecipe } from './run-recipe.ts';
import { findFreePort } from '../find-free-port.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'docs', 'recipes');
const pages = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

let bundle: CarillonBundle;
let environment: Record<string, string>;
beforeAll(async () => {
  bundle = await startCarillonBundle();
  environment = {
    // The Node that runs this is the one of the recipes.
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    CARILLON_API_URL: bundle.url,
    CARILLON_WORKSPACE_ID: bundle.workspaceId,
    CARILLON_WORKSPACE_DB_NAME: bundle.block.dbName!,
    CARILLON_OAUTH_KEY: bundle.keys.oauth,
    CARILLON_DATA_KEY: bundle.keys.data,
    CARILLON_PUSH_KEY: bundle.keys.push,
    CARILLON_CAMPAIGNS_KEY: bundle.keys.campaigns,
  };
});
afterAll(() => bundle.stop());

async function startAnew(): Promise<void> {
  expect((await bundle.call('POST', '/sandbox/reset', { body: {} })).status).toBe(200);
  // Of a workspace that was made anew; its keys are the same.
  environment.WEBHOOK_SECRET = await readWebhookSecret(bundle);
}

const follow = async (name: string) =>
  runRecipe(readRecipe(read(name)), { environment: { ...environment, PORT: String(await findFreePort()) } });

describe('every recipe does what its page says', () => {
  beforeEach(startAnew);

  test.each(pages.filter((name) => name !== 'browser.md'))('%s', follow);

  test.skipIf(!hasChromium)(`browser.md${skipReason}`, async () => {
    const port = String(await findFreePort());
    const browser = playSubscribingBrowser(bundle, `http://localhost:${port}`);
    try {
      await runRecipe(readRecipe(read('browser.md')), {
        environment: { ...environment, PORT: port },
        byHand: browser.byHand,
      });
    } finally {
      await browser.close();
    }
  });
});

test('the index lists every page, and each has its parts', () => {
  const listed = [...read('README.md').matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm)].map(([, name]) => name!);
  expect(listed.sort()).toEqual([...pages].sort());
  for (const name of pages) {
    const headings = [...read(name).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings, name).toEqual(expect.arrayContaining(['Troubleshooting']));
    const runs = readRecipe(read(name)).filter((step) => step.kind === 'command' && step.output !== undefined);
    expect(runs.length, name).toBeGreaterThan(0);
  }
});

describe('reading and comparing', () => {
  test('a block that nobody would run or compare is refused', () => {
    expect(() => readRecipe('# T\n\n```json\n{}\n```\n')).toThrow('line 3: a block of "json"');
    expect(() => readRecipe('```text\nx\n```\n')).toThrow('line 1');
    expect(readRecipe('```js a.mjs\n1\n```\n\n```sh\nnode a.mjs\n```\n\n```text\n1\n```\n')).toEqual([
      { kind: 'file', name: 'a.mjs', text: '1\n' },
      { kind: 'command', text: 'node a.mjs\n', line: 5, output: '1\n' },
    ]);
  });

  test.each([
    ['a…c\n', 'abbc\n', true],
    ['a…c\n', 'ac\n', false],
    ['a…c\n', 'a\nc\n', false],
    ['a\n…\nd\n', 'a\nb\nc\nd\n', true],
    ['a\n…\nd\n', 'a\nd\n', true],
    ['a\n', 'a\nb\n', false],
    ['{"a":[1]}\n', '{"a":[1]}', true],
    ['', '', true],
    ['', 'x\n', false],
  ])('%j shows %j: %s', (shown, printed, expected) => {
    expect(matchOutput(shown, printed)).toBe(expected);
  });

  test('lines that wait in vain end with 124 and what they printed, and nothing of them stays behind', async () => {
    const place = await mkdtemp(join(tmpdir(), 'carillon-shell-'));
    const shell = openShell({ folder: place, environment: { PATH: process.env.PATH! }, maxMs: 1_000 });
    const { printed, status } = await shell.run('echo $$; until false; do sleep 0.1; done');
    await shell.close();
    await rm(place, { recursive: true });
    expect([status, printed]).toEqual([124, expect.stringMatching(/^\d+\n$/)]);
    expect(() => process.kill(Number(printed), 0)).toThrow('ESRCH');
  });

  test('a step whose output differs from the page fails', async () => {
    const steps = readRecipe('```sh\necho one\n```\n\n```text\ntwo\n```\n');
    await expect(runRecipe(steps, { environment })).rejects.toThrow('line 1');
  });

  test('a step that ends with an error fails', async () => {
    await expect(runRecipe(readRecipe('```sh\nfalse\n```\n'), { environment })).rejects.toThrow('line 1');
  });

  test('a step by hand that nobody does fails', async () => {
    await expect(runRecipe(readRecipe('<!-- by hand: jump -->\n'), { environment })).rejects.toThrow('line 1');
  });
});
