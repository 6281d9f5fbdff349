import type { LoadContext, SoakAction } from './soak-action.ts';

/** Campaigns searched, listed and read in both versions, and their statistics. */
export function campaignLoad({ bundle, ledger }: LoadContext): SoakAction[] {
  const { callNode, random, workspaceId, keys } = bundle;
  const headers = {
    authorization: `Basic ${Buffer.from(`${workspaceId}:${keys.campaigns}`).toString('base64')}`,
    'svc-appkey': workspaceId,
  };
  const searches: object[] = [
    {},
    { name: 'Soak to all' },
    { status: ['SENT'] },
    { delivery_type: ['PERIODIC'] },
    { created_by: ['Demo push key'] },
  ];
  const version = (): 'v1' | 'v5' => (random.between(0, 1) === 0 ? 'v1' : 'v5');
  const post = (kind: string, path: string, body: object) =>
    callNode({
      kind,
      method: 'POST',
      path,
      headers,
      body: { request_id: 'soak', limit: 15, page: 1, ...body },
      expected: [200],
    });

  return [
    {
      name: 'campaign search',
      everySeconds: 1.5,
      async run() {
        const campaign_fields = searches[random.between(0, searches.length - 1)]!;
        await post('campaign search', `/${version()}/campaigns/search`, { campaign_fields });
      },
    },
    {
      name: 'campaign executions',
      everySeconds: 4,
      async run() {
        const id = [...ledger.periodic][random.between(0, ledger.periodic.size - 1)];
        if (id !== undefined) await post('campaign executions', `/${version()}/campaigns/${id}/executions`, {});
      },
    },
    {
      name: 'campaign read',
      everySeconds: 5,
      async run() {
        const id = [...ledger.once].at(-1);
        if (id === undefined) return;
        await callNode({ kind: 'campaign read', method: 'GET', path: `/v5/campaigns/${id}`, headers, expected: [200] });
      },
    },
  ];
}
