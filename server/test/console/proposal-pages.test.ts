import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../carillon-bundle.ts';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

describe('the pages of proposals', () => {
  describeScreen('proposals in Chromium', () => {
    let console: ConsoleBrowser;
    let token: string;
    beforeAll(async () => {
      console = await startConsoleBrowser();
    });
    afterAll(() => console?.stop());

    async function callTool(name: string, args: object): Promise<any> {
      const body = {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name, arguments: { workspace_id: console.bundle.workspaceId, ...args } },
      };
      const headers = { authorization: `Bearer ${token}` };
      return (await console.bundle.call('POST', '/mcp', { headers, body })).json().result.structuredContent.data;
    }
    const draftNamed = async (name: string): Promise<string> => {
      const campaign = {
        ...{ channel: 'PUSH', campaign_delivery_type: 'ONE_TIME', basic_details: { name, platforms: ['ANDROID'] } },
        campaign_content: { content: { push: { android: { basic_details: { title: 'Hello', message: 'There' } } } } },
        segmentation_details: { is_all_user_campaign: true },
        scheduling_details: { delivery_type: 'ASAP' },
      };
      return (await callTool('create_draft', { campaign })).id as string;
    };
    const propose = (id: string) => callTool('propose_publish', { campaign_id: id, note: 'Sales are low' });
    const statusOf = async (id: string) =>
      (await console.bundle.database`select status from campaigns where id = ${id}`)[0]!.status as string;

    test('create a token, show what an agent changed, and publish only what a person approves', async () => {
      const { page, context, faults } = await console.openSignedIn();
      await page.goto(`${console.home}/proposals`);
      await page.getByText('No proposals yet').waitFor();
      await page.goto(`${console.home}/account`);
      await page.getByRole('textbox', { name: 'Name' }).fill('Claude');
      await page.getByLabel('May change drafts').check();
      await page.getByRole('button', { name: 'Create token' }).click();
      const shown = page.getByRole('status').filter({ hasText: 'carillon_agent_' });
      await shown.waitFor();
      await expectAccessible(page);
      token = /carillon_agent_[\w-]+/.exec((await shown.textContent())!)![0];

      const id = await draftNamed('Spring\u202E sale');
      await propose(id);
      await page.getByRole('link', { name: 'Proposals', exact: true }).click();
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Spring' }).click();
      await page.getByText('Sales are low').waitFor();
      await page.getByRole('cell', { name: 'Spring\\u{202E} sale' }).waitFor();
      await page.getByText('devices of').waitFor();
      await expectAccessible(page);
      expect(await statusOf(id)).toBe('DRAFT');

      // The agent changes the draft while the person reads.
      await callTool('change_draft', { campaign_id: id, changes: { basic_details: { name: 'Other sale' } } });
      await page.getByRole('button', { name: 'Approve' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
      await dialog.getByText('the draft was changed after it was proposed').waitFor();
      expect(await statusOf(id)).toBe('DRAFT');
      await propose(id);
      await page.goto(`${console.home}/proposals`);
      await page.getByRole('link', { name: 'Other sale' }).first().click();
      await page.getByRole('button', { name: 'Approve' }).click();
      await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
      await page.getByText('“Other sale” is published').waitFor();
      await until(async () => (await statusOf(id)) !== 'DRAFT');
      // The refused request is on the page's console.
      expect(faults.filter((fault) => !fault.includes('409'))).toEqual([]);
      await context.close();
    });

    test('refuse with a reason for the agent, and the composer sends no change that its user has not seen', async () => {
      const { page, context, faults } = await console.openSignedIn();
      const refused = await draftNamed('Autumn sale');
      await propose(refused);
      await page.goto(`${console.home}/proposals`);
      await page.getByRole('link', { name: 'Autumn sale' }).click();
      await page.getByRole('button', { name: 'Refuse' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Reason, for the agent').fill('Not in autumn');
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Refuse', exact: true }).click();
      await page.getByText('“Autumn sale” is refused').waitFor();
      const { proposals } = await callTool('list_proposals', {});
      expect(proposals.map(({ reason }: { reason: string }) => reason)).toContain('Not in autumn');

      const id = await draftNamed('Winter sale');
      await page.goto(`${console.home}/campaigns/${id}/edit?step=review`);
      await page.getByText('changed this draft').waitFor();
      await callTool('change_draft', { campaign_id: id, changes: { basic_details: { name: 'Sneaked in' } } });
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await dialog.getByRole('button', { name: 'Send', exact: true }).click();
      await dialog.getByText('agent has changed since you opened it').waitFor();
      expect(await statusOf(id)).toBe('DRAFT');
      await page.reload();
      await page.getByRole('heading', { name: 'Sneaked in' }).waitFor();
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await dialog.getByRole('button', { name: 'Send', exact: true }).click();
      await until(async () => (await statusOf(id)) !== 'DRAFT');
      expect(faults.filter((fault) => !fault.includes('409'))).toEqual([]);
      await context.close();
    });
  });
});
