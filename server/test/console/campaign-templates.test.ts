import { afterAll, beforeAll, expect, test } from 'vitest';
import { viewedScreens } from '../../src/domain/access/accounts.ts';
import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { countWaiting } from '../is-anybody-waiting.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { openSignedInClient } from './signed-in-client.ts';

let bundle: CarillonBundle;
let client: ConsoleClient;
let workspaceId: string;
let otherId: string;
beforeAll(async () => {
  bundle = await startCarillonBundle();
  ({ workspaceId } = bundle);
  ({ client } = await openSignedInClient(bundle));
  otherId = await insertTestWorkspace(bundle.database, new Date('2026-01-01T00:00:00Z'));
});
afterAll(() => bundle?.stop());

const send = async (campaignName: string): Promise<string> => {
  const answer = await bundle.push({
    campaignName,
    targetPlatform: ['ANDROID'],
    targetAudience: 'All Users',
    payload: { ANDROID: { title: 'Hello', message: 'There' } },
    campaignDelivery: { type: 'later', date: '01/01/2099', time: '10:00 AM' },
  });
  return answer.json().cid as string;
};
const lastAudit = async () => (await client.accounts.listAudit({ workspaceId }))[0]!;

test('a template keeps what a campaign was made of, and makes drafts that have its name', async () => {
  const of = await send('Kept for later');
  const { id } = await client.templates.create({ workspaceId, id: of, name: ' Monthly ' });
  expect(await lastAudit()).toMatchObject({
    action: 'template.create',
    objectId: id,
    objectName: 'Monthly',
    detail: { of },
  });
  const { request } = await client.campaigns.read({ workspaceId, id: of });
  const { created_by: _by, ...parts } = request;
  expect(await client.templates.list(workspaceId)).toEqual([
    expect.objectContaining({ id, name: 'Monthly', request: parts, createdBy: 'Console' }),
  ]);
  const draft = await client.templates.use({ workspaceId, id });
  expect(await lastAudit()).toMatchObject({ action: 'campaign.create', objectId: draft.id, detail: { template: id } });
  const made = await client.campaigns.read({ workspaceId, id: draft.id });
  expect(made.campaign).toMatchObject({ name: 'Monthly', status: 'DRAFT', mayEdit: true });
  expect(made.record.campaign_content).toEqual(
    (await client.campaigns.read({ workspaceId, id: of })).record.campaign_content,
  );

  await client.templates.rename({ workspaceId, id, name: 'Every month' });
  expect(await lastAudit()).toMatchObject({
    action: 'template.rename',
    objectName: 'Every month',
    detail: { from: 'Monthly' },
  });
  await client.templates.remove({ workspaceId, id });
  expect(await lastAudit()).toMatchObject({ action: 'template.delete', objectName: 'Every month' });
  expect(await client.templates.list(workspaceId)).toEqual([]);
  // What was made of it stays.
  expect((await client.campaigns.read({ workspaceId, id: draft.id })).campaign.status).toBe('DRAFT');
});

test('two templates of a workspace have two names', async () => {
  const of = await send('Of two templates');
  const [one, two] = [
    await client.templates.create({ workspaceId, id: of, name: 'One' }),
    await client.templates.create({ workspaceId, id: of, name: 'Two' }),
  ];
  const taken = { status: 400, field: 'name' };
  await expect(client.templates.create({ workspaceId, id: of, name: 'One' })).rejects.toMatchObject(taken);
  await expect(client.templates.rename({ workspaceId, id: two.id, name: 'One' })).rejects.toMatchObject(taken);
  await expect(client.templates.create({ workspaceId, id: of, name: '  ' })).rejects.toMatchObject(taken);
  await client.templates.rename({ workspaceId, id: one.id, name: 'One' });
  expect((await client.templates.list(workspaceId)).map(({ name }) => name)).toEqual(['One', 'Two']);
});

test('of two that are renamed at once to one name, one has it and the other is refused', async () => {
  const of = await send('Of two at once');
  const ids = [
    (await client.templates.create({ workspaceId, id: of, name: 'First at once' })).id,
    (await client.templates.create({ workspaceId, id: of, name: 'Second at once' })).id,
  ];
  const outcomes = await inTransaction(bundle.database, async (tx) => {
    await tx`select from campaign_templates where id = any(${ids}) for update`;
    const renamed = Promise.allSettled(ids.map((id) => client.templates.rename({ workspaceId, id, name: 'At once' })));
    await expect.poll(() => countWaiting(bundle.database)).toBe(2);
    return () => renamed;
  }).then((settle) => settle());
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const refused = outcomes.find(({ status }) => status === 'rejected');
  expect(refused).toMatchObject({ reason: { status: 400, field: 'name' } });
  expect((await client.templates.list(workspaceId)).filter(({ name }) => name === 'At once')).toHaveLength(1);
});

test('of another workspace there is no template', async () => {
  const { id } = await client.templates.create({ workspaceId, id: await send('Only here'), name: 'Only here' });
  const key = { workspaceId: otherId, id };
  expect(await client.templates.list(otherId)).toEqual([]);
  for (const asked of [
    () => client.templates.rename({ ...key, name: 'Mine' }),
    () => client.templates.remove(key),
    () => client.templates.use(key),
    () => client.templates.create({ workspaceId: otherId, id, name: 'Mine' }),
  ])
    await expect(asked()).rejects.toMatchObject({ status: 404 });
});

test('a view is its owner’s, one of the same name takes its place, and each workspace and list has its own', async () => {
  const { views } = client;
  const campaigns = { workspaceId, screen: 'campaigns' } as const;
  const elsewhere = { workspaceId: otherId, screen: 'campaigns' } as const;
  const saved = await views.save({ ...campaigns, name: 'Spring', search: 'tag=spring' });
  const again = await views.save({ ...campaigns, name: 'Spring', search: 'tag=spring&order=oldest' });
  expect(again).toEqual({ id: saved.id, name: 'Spring', search: 'tag=spring&order=oldest' });
  expect(await views.list(campaigns)).toEqual([again]);
  expect(await views.list(elsewhere)).toEqual([]);
  for (const screen of viewedScreens.filter((one) => one !== 'campaigns')) {
    const there = { workspaceId, screen };
    expect(await views.list(there)).toEqual([]);
    const own = await views.save({ ...there, name: 'Spring', search: 'a=b' });
    expect(await views.list(there)).toEqual([own]);
    await expect(views.remove({ ...campaigns, id: own.id })).rejects.toMatchObject({ status: 404 });
  }
  await expect(views.list({ workspaceId, screen: 'keys' as 'audit' })).rejects.toMatchObject({ status: 400 });
  await bundle.database`
    insert into accounts (id, email, name, role, created_at)
    values (${'9'.repeat(24)}, 'olga@example.com', 'Olga', 'analyst', '2026-01-01')`;
  await bundle.database`
    insert into saved_views (id, workspace_id, account_id, screen, name, search, created_at)
    values (${'8'.repeat(24)}, ${workspaceId}, ${'9'.repeat(24)}, 'campaigns', 'Spring', 'view=drafts', '2026-01-01')`;
  expect(await views.list(campaigns)).toEqual([again]);
  await expect(views.remove({ ...campaigns, id: '8'.repeat(24) })).rejects.toMatchObject({ status: 404 });
  await views.remove({ ...campaigns, id: saved.id });
  expect(await views.list(campaigns)).toEqual([]);
  await expect(views.save({ ...campaigns, name: '  ', search: '' })).rejects.toMatchObject({
    status: 400,
    field: 'name',
  });
});

test('no more are saved than a list of them can show', async () => {
  const elsewhere = { workspaceId: otherId, screen: 'campaigns' } as const;
  for (let number = 0; number < 50; number += 1)
    await client.views.save({ ...elsewhere, name: `View ${number}`, search: '' });
  const oneMore = client.views.save({ ...elsewhere, name: 'One more', search: '' });
  await expect(oneMore).rejects.toMatchObject({ status: 400, field: 'name' });
  await client.views.save({ ...elsewhere, name: 'View 7', search: 'view=drafts' });
  expect(await client.views.list(elsewhere)).toHaveLength(50);
});
