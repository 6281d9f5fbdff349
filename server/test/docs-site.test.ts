import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { fillCall, makeCurl, noValues } from '../../scripts/site/browser/make-curl.ts';
import { parseValues } from '../../scripts/site/browser/parse-values.ts';
import { readSite } from '../../scripts/site/read-site.ts';
import type { Site } from '../../scripts/site/read-site.ts';
import { errorRegistry } from '../src/domain/errors.ts';
import { stateMachines } from '../src/domain/state-machines.ts';

const root = join(import.meta.dirname, '..', '..');
let site: Site;
beforeAll(async () => {
  site = await readSite(root);
});
const htmlOf = (source: string): string => site.pages.find((page) => page.source === source)!.html;

describe('the site of the documentation', () => {
  test('no link of a page leads nowhere: pages, anchors and files', () => {
    expect(site.dead).toEqual([]);
  });

  test('every page has an address of its own and stands in the menu once', () => {
    const addresses = site.pages.map(({ address }) => address);
    expect(addresses.length).toBeGreaterThan(100);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  test('neither a page nor the layout has a style, a script or a file of another address in it', async () => {
    const layout = await readFile(join(root, 'scripts/site/_includes/layout.liquid'), 'utf8');
    for (const html of [layout, ...site.pages.map((page) => page.html)]) {
      expect(html).not.toMatch(/<style| style="| on\w+="|<script(?! (?:type="module" )?src="\{\{ root \}\}assets)/);
      expect(html).not.toMatch(/(?:src|rel="stylesheet" href)="(?:https?:)?\/\//);
    }
  });

  test('a diagram of states is a picture with words for who does not see it, and no text of a language', () => {
    const page = htmlOf('docs/states.md');
    expect(page.match(/<svg role="img" aria-label="The states of [^"]+\. begin to [^"]+" /g)).toHaveLength(
      stateMachines.length,
    );
    expect(page).toContain('>QUARANTINED</text>');
    expect(page).not.toContain('stateDiagram');
  });

  test('every error can be linked to by its name', () => {
    const page = htmlOf('docs/errors.md');
    expect(Object.keys(errorRegistry).filter((name) => !page.includes(` id="${name}"`))).toEqual([]);
  });

  test('a bound, a required member, an error and the executed example of a push stand on its page', () => {
    const page = htmlOf('docs/api/push.md');
    expect(page).toContain('<code>campaignName</code> *</td>\n<td>string</td>\n<td>5 to 256 characters');
    expect(page).toContain('href="../../errors/#PUSH_RATE_LIMITED"');
    expect(page).toContain('data-call="sendPushV21"');
    expect(page).toContain('appId, signature and query type travel in headers.');
  });
});

describe('an example with own ids', () => {
  const values = { ...noValues, workspaceId: 'W1', dbName: 'own_db', dataKey: 'cdk_1', oauthKey: 'cok_1' };

  test('has them in path, headers, body and credentials', () => {
    const call = (name: string): string => makeCurl(fillCall(site.calls[name]!, { values }));
    expect(call('upsertCustomer')).toMatch(/^curl 'http:\/\/127\.0\.0\.1:8080\/v1\/customer\/W1'[^]*-u 'W1:cdk_1'/);
    expect(call('getSegment')).toContain("-H 'SVC-DBNAME: own_db'");
    expect(call('generateToken')).toContain('client_id=W1&client_secret=cok_1');
  });

  test('is quoted so that a shell takes every character', () => {
    const call = { method: 'POST', path: '/x', headers: {}, body: { text: "it's" } };
    expect(makeCurl(fillCall(call, { values }))).toContain(`"it'\\''s"`);
  });

  test.each([
    [
      'the line of a start',
      '{"url":"http://127.0.0.1:1","workspaceId":"X8J94KWBRT8633A78S9V9MV2","dbName":"demo_x8","keys":{"data":"cdk_u-W_m"}}',
    ],
    [
      'the lines of a start',
      '  Workspace     X8J94KWBRT8633A78S9V9MV2  (database name demo_x8)\n  Key: data     cdk_u-W_m\n',
    ],
    [
      'carillon status --env',
      'CARILLON_WORKSPACE_ID=X8J94KWBRT8633A78S9V9MV2\nCARILLON_WORKSPACE_DB_NAME=demo_x8\nCARILLON_DATA_KEY=cdk_u-W_m\n',
    ],
  ])('%s is understood', (_name, text) => {
    expect(parseValues(text)).toEqual({
      workspaceId: 'X8J94KWBRT8633A78S9V9MV2',
      dbName: 'demo_x8',
      dataKey: 'cdk_u-W_m',
    });
  });
});
