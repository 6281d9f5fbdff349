import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeScreen, expectAccessible, startConsoleBrowser } from './console-browser.ts';
import type { ConsoleBrowser } from './console-browser.ts';

const run = promisify(execFile);

describeScreen('an integrator in Chromium', () => {
  let console: ConsoleBrowser;
  let receiver: Server;
  const received: { id: string; body: string }[] = [];
  beforeAll(async () => {
    console = await startConsoleBrowser();
    receiver = createServer(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      if (request.url === '/people.csv') return response.end('ada@example.com\n');
      received.push({ id: String(request.headers['webhook-id']), body });
      return response.end();
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
  });
  afterAll(async () => {
    receiver?.close();
    await console?.stop();
  });

  test('makes a key, runs its call, breaks it, reads why, mends it, sees the phone, and gets a callback twice', async () => {
    const { bundle } = console;
    const { page, context, faults } = await console.openSignedIn();
    const open = (screen: string) => page.getByRole('navigation').first().getByRole('link', { name: screen }).click();
    /** Runs what the page shows as it stands, in a shell. */
    const shell = async (text: string) => JSON.parse((await run('/bin/sh', ['-c', text])).stdout) as any;

    await open('Keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Kind').selectOption('push');
    await page.getByRole('textbox', { name: 'Name' }).fill('Shop');
    await page.getByRole('button', { name: 'Create key' }).click();
    const command = await page.getByRole('region', { name: 'curl command' }).innerText();
    expect(command).toContain(bundle.workspaceId);

    // The name is part of what is signed; changed in the body alone, the signature is of another call.
    const broken = command.replace('"campaignName":"Hello from Carillon"', '"campaignName":"Hello from the shop"');
    expect(broken).not.toBe(command);
    expect(await shell(broken)).toMatchObject({ status: 'Fail', Error_Message: 'Signature is not verified' });

    // It names the workspace, whose people look for it there.
    await open('API log');
    await page.getByRole('navigation', { name: 'Views' }).getByText('Refused').click();
    const calls = page.getByRole('region', { name: 'Calls' });
    // Until the views have changed, what was first in the list before still stands there.
    await calls
      .getByRole('row', { name: /sendpush/ })
      .getByRole('link')
      .click();
    const why = page.getByRole('region', { name: 'Call details' });
    await why.getByRole('alert').getByText('Signature is not verified').waitFor();
    await why.getByText(`${bundle.workspaceId}|Hello from the shop|<push key>`, { exact: false }).waitFor();
    await why.getByText('What to do: Sign exactly', { exact: false }).waitFor();
    await why.getByText('"campaignName": "Hello from the shop"', { exact: false }).waitFor();
    await expectAccessible(page);

    const mended = broken.replace('|Hello from Carillon|', '|Hello from the shop|');
    expect(await shell(mended)).toMatchObject({ status: 'Success' });
    await open('Sandbox');
    await page
      .getByRole('article', { name: 'Android of ada, ada-device' })
      .getByText('Sent with a key of this workspace')
      .waitFor();

    const { port } = receiver.address() as AddressInfo;
    const segment = await bundle.call('POST', '/v2/custom-segments/file-segment', {
      headers: { ...bundle.basic(), 'svc-appkey': bundle.workspaceId, 'svc-dbname': bundle.block.dbName! },
      body: {
        name: 'Lapsed',
        attribute_name: 'u_em',
        attribute_type: 'string',
        file_url: `http://127.0.0.1:${port}/people.csv`,
        expiry_time: 30,
        callback_url: `http://127.0.0.1:${port}/hook`,
      },
    });
    expect([segment.status, segment.text]).toEqual([202, expect.any(String)]);
    await open('API log');
    await page.getByRole('navigation', { name: 'Views' }).getByText('Callbacks').click();
    const callbacks = page.getByRole('region', { name: 'Callbacks', exact: true });
    await callbacks.getByText('DELIVERED').waitFor();
    expect(received).toHaveLength(1);
    await callbacks.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await callbacks.getByText('after 1 resend', { exact: false }).waitFor();
    await expect.poll(() => received.length, { timeout: 15_000 }).toBe(2);
    expect(received[1]).toEqual(received[0]);
    expect(faults).toEqual([]);
    await context.close();
  }, 180_000);
});
