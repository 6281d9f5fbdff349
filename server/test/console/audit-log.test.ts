import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeAccountsBundle, start } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';

let bundle: AccountsBundle;
let cookie: string;
beforeAll(async () => {
  bundle = await makeAccountsBundle();
  cookie = await bundle.createOwner();
  const lines = [
    { minute: 1, actor: 'Olga', action: 'campaign.stop', name: 'Spring sale' },
    { minute: 2, actor: 'Max', action: 'campaign.pause', name: '=Spring, again' },
    { minute: 3, actor: 'Max', action: 'key.create', name: 'Shop' },
  ];
  await bundle.database`delete from audit_log`;
  for (const { minute, actor, action, name } of lines) {
    const at = new Date(start.getTime() + minute * 60_000);
    const id = `${at.getTime().toString(16).padStart(12, '0')}${'0'.repeat(11)}${minute}`;
    await bundle.database`
      insert into audit_log (id, workspace_id, at, actor_name, action, object_kind, object_id, object_name, detail)
      values (${id}, ${bundle.workspaceId}, ${at}, ${actor}, ${action}, ${action.split('.')[0]!},
        ${String(minute).repeat(24)}, ${name}, '{"from": "SENDING"}')`;
  }
});
afterAll(() => bundle.end());

async function find(filters: Record<string, string>): Promise<string[]> {
  const query = new URLSearchParams({ workspaceId: bundle.workspaceId, ...filters });
  const { status, body } = await bundle.call('GET', `audit?${query}`, { cookie });
  expect(status).toBe(200);
  return body.entries.map(({ action }: { action: string }) => action);
}

const at = (minute: number) => new Date(start.getTime() + minute * 60_000).toISOString();

test.each([
  [{}, ['key.create', 'campaign.pause', 'campaign.stop']],
  [{ actor: 'max' }, ['key.create', 'campaign.pause']],
  [{ action: 'campaign' }, ['campaign.pause', 'campaign.stop']],
  [{ action: 'campaign.stop' }, ['campaign.stop']],
  [{ object: 'spring' }, ['campaign.pause', 'campaign.stop']],
  [{ object: '3'.repeat(24) }, ['key.create']],
  [{ from: at(2) }, ['key.create', 'campaign.pause']],
  [{ until: at(2) }, ['campaign.stop']],
  [{ from: at(2), until: at(3), actor: 'Olga' }, []],
])('%j finds %j', async (filters, actions) => {
  expect(await find(filters)).toEqual(actions);
});

test('the same lines as a file, in which no cell is a formula', async () => {
  const query = new URLSearchParams({ workspaceId: bundle.workspaceId, action: 'campaign' });
  const { status, headers, body } = await bundle.call('GET', `audit.csv?${query}`, { cookie });
  expect([status, headers['content-disposition']]).toEqual([200, 'attachment; filename="audit.csv"']);
  expect(String(body).split('\r\n')).toEqual([
    'at,actor,action,object_id,object,detail',
    `${at(2)},Max,campaign.pause,${'2'.repeat(24)},"'=Spring, again","{""from"":""SENDING""}"`,
    `${at(1)},Olga,campaign.stop,${'1'.repeat(24)},Spring sale,"{""from"":""SENDING""}"`,
    '',
  ]);
});
