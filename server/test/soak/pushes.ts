import { authorize, pushContent, signedPush, toUser } from '../rig/caller.ts';
import { steadyUsers } from './bundle.ts';
import type { NodeAnswer } from './bundle.ts';
import { mainSegment } from './data.ts';
import { asDelivery } from './run-actions.ts';
import type { LoadContext, SoakAction } from './run-actions.ts';

const hourMilliseconds = 3_600_000;

/** Pushes to all users, to segments and to named users, in both versions; some are scheduled, some recur. */
export function pushLoad({ bundle, ledger, time }: LoadContext): SoakAction[] {
  const { workspaceId, callNode, random } = bundle;
  let pushes = 0;

  type Push = { kind: string; targetAudience: string; version: 'v2' | 'v2.1'; campaignName?: string } & Record<
    string,
    unknown
  >;

  async function push({ kind, version, ...more }: Push, headers: Record<string, string> = {}) {
    const campaignName = more.campaignName ?? `Soak ${kind} ${(pushes += 1)}`;
    const sent = signedPush(bundle, { campaignName, ...more });
    const path = `/${version}/transaction/sendpush`;
    const call = { kind: `push ${kind}`, method: 'POST', path, expected: [200] };
    if (version === 'v2.1')
      return await callNode({ ...call, headers: { ...sent.headers, ...headers }, body: sent.body });
    const body = { appId: workspaceId, signature: sent.signature, requestType: 'push', ...sent.body };
    return await callNode({ ...call, headers, body });
  }
  const idOf = (answer: NodeAnswer | undefined): string | undefined =>
    answer?.status === 200 ? (answer.json() as { cid: string }).cid : undefined;
  const keep = (into: Set<string>, answer: NodeAnswer | undefined): void => {
    const id = idOf(answer);
    if (id !== undefined) into.add(id);
  };
  const version = (): 'v2' | 'v2.1' => (random.between(0, 1) === 0 ? 'v2' : 'v2.1');
  const anyUser = (): string => `demo-user-${random.between(0, steadyUsers - 1)}`;

  return [
    {
      name: 'push to a user',
      everySeconds: 0.3,
      async run() {
        const customerId = anyUser();
        const id = idOf(await push({ kind: 'to a user', version: version(), ...toUser(customerId) }));
        if (id !== undefined) ledger.toSteadyUsers.set(id, customerId);
      },
    },
    {
      name: 'push that is repeated under its key',
      everySeconds: 5,
      async run() {
        const campaignName = `Soak repeated ${(pushes += 1)}`;
        const headers = { 'idempotency-key': campaignName };
        const sending = { kind: 'repeated', version: 'v2.1', campaignName, ...toUser(anyUser()) } as const;
        keep(ledger.once, await push(sending, headers));
        keep(ledger.once, await push(sending, headers));
      },
    },
    {
      name: 'push to all',
      everySeconds: 15,
      run: async () =>
        keep(ledger.once, await push({ kind: 'to all', version: version(), targetAudience: 'All Users' })),
    },
    {
      name: 'push to a segment',
      everySeconds: 6,
      async run() {
        const target = { targetAudience: 'Custom Segment', customSegmentName: mainSegment };
        keep(ledger.once, await push({ kind: 'to a segment', version: version(), ...target }));
      },
    },
    {
      name: 'push for later',
      everySeconds: 8,
      async run() {
        // Far enough that the clock, which may be under way, is not there yet.
        const at = new Date(time.now().getTime() + random.between(24, 72) * hourMilliseconds);
        const campaignDelivery = { type: 'later', ...asDelivery(at) };
        keep(
          ledger.once,
          await push({ kind: 'for later', version: version(), campaignDelivery, ...toUser(anyUser()) }),
        );
      },
    },
    {
      name: 'periodic push',
      everySeconds: 60,
      async run() {
        const { date: endDate } = asDelivery(new Date(time.now().getTime() + 4 * 24 * hourMilliseconds));
        const occurrence = { time: '09:00 AM', timezone: 'UTC', repeatAfter: '1' };
        const campaignDelivery = { type: 'periodic', endDate, ...occurrence };
        const target = { targetAudience: 'Custom Segment', customSegmentName: mainSegment };
        keep(ledger.periodic, await push({ kind: 'periodic', version: version(), campaignDelivery, ...target }));
      },
    },
    {
      name: 'push with a wrong signature',
      everySeconds: 7,
      async run() {
        const body = { ...pushContent, campaignName: 'Soak forged', targetAudience: 'All Users' };
        const forged = { appId: workspaceId, signature: '0'.repeat(64), requestType: 'push', ...body };
        const call = { kind: 'push forged', method: 'POST', path: '/v2/transaction/sendpush', body: forged };
        await callNode({ ...call, expected: [200] });
      },
    },
  ];
}

/** Campaigns searched, listed and read in both versions, and their statistics. */
export function campaignLoad({ bundle, ledger }: LoadContext): SoakAction[] {
  const { callNode, random, workspaceId } = bundle;
  const headers = {
    ...authorize(bundle, 'campaigns'),
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
