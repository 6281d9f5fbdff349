import { steadyUsers } from '../soak-bundle.ts';
import type { LoadContext, SoakAction } from './soak-action.ts';

// Bounded, so that the tables of users and devices end their growth while it warms up.
const writtenUsers = 300;
const dyingDevices = 30;
const elementsPerBatch = 20;

/** Users, devices, events and interactions; devices whose tokens are dead; users that are merged and erased. */
export function dataLoad({ bundle }: LoadContext): SoakAction[] {
  const { callNode, random, workspaceId, keys } = bundle;
  const headers = { authorization: `Basic ${Buffer.from(`${workspaceId}:${keys.data}`).toString('base64')}` };
  let passing = 0;
  let lastMessageId = '';

  const post = (kind: string, path: string, body: unknown) =>
    callNode({ kind, method: 'POST', path, headers, body, expected: [200] });
  const customer = (customerId: string) => ({
    type: 'customer',
    customer_id: customerId,
    attributes: { u_em: `${customerId}@example.com`, visits: random.between(0, 1000) },
  });
  const device = (customerId: string, pushId: string) => ({
    type: 'device',
    customer_id: customerId,
    device_id: `device-of-${customerId}`,
    attributes: { platform: 'ANDROID', push_id: pushId },
  });
  const event = (customerId: string) => ({
    type: 'event',
    customer_id: customerId,
    actions: [{ action: 'Opened', attributes: { page: random.between(1, 50) } }],
  });
  const written = (): string => `written-${random.between(1, writtenUsers)}`;
  const steady = (): string => `demo-user-${random.between(0, steadyUsers - 1)}`;
  // One in three times it is the token it had.
  const tokenOf = (customerId: string): string => `token-of-${customerId}-${random.between(1, 3)}`;

  return [
    {
      name: 'user',
      everySeconds: 0.7,
      run: async () => void (await post('user', `/v1/customer/${workspaceId}`, customer(written()))),
    },
    {
      name: 'device',
      everySeconds: 1,
      async run() {
        const customerId = written();
        await post('user', `/v1/customer/${workspaceId}`, customer(customerId));
        await post('device', `/v1/device/${workspaceId}`, device(customerId, tokenOf(customerId)));
      },
    },
    {
      name: 'device with a dead token',
      everySeconds: 4,
      async run() {
        const customerId = `dying-${random.between(1, dyingDevices)}`;
        const kind = ['gone', 'invalid', 'rejected'][random.between(0, 2)]!;
        await post('user', `/v1/customer/${workspaceId}`, customer(customerId));
        await post('device', `/v1/device/${workspaceId}`, device(customerId, `magic-${kind}-${customerId}`));
      },
    },
    {
      name: 'event',
      everySeconds: 0.5,
      run: async () => void (await post('event', `/v1/event/${workspaceId}`, event(steady()))),
    },
    {
      name: 'batch',
      everySeconds: 2,
      async run() {
        const elements = Array.from({ length: elementsPerBatch }, () => {
          const customerId = written();
          return [customer(customerId), device(customerId, tokenOf(customerId)), event(steady())][
            random.between(0, 2)
          ]!;
        });
        await post('batch', `/v1/transition/${workspaceId}`, { type: 'transition', elements });
      },
    },
    {
      name: 'user that passes',
      everySeconds: 4,
      async run() {
        const customerId = `passing-${(passing += 1)}`;
        await post('user', `/v1/customer/${workspaceId}`, customer(customerId));
        await post('device', `/v1/device/${workspaceId}`, device(customerId, `token-of-${customerId}`));
        await post('event', `/v1/event/${workspaceId}`, event(customerId));
        const deletion = { identity_type: 'customer_id', identity_value: customerId };
        await post('erase', `/v1/customer/delete?app_id=${workspaceId}`, deletion);
      },
    },
    {
      name: 'interactions',
      everySeconds: 2,
      async run() {
        const after = lastMessageId === '' ? '' : `&after=${lastMessageId}`;
        const path = `/sandbox/inbox?limit=20&wait=1000${after}`;
        const inbox = await callNode({ kind: 'inbox', method: 'GET', path, expected: [200] });
        if (inbox?.status !== 200) return;
        const { messages } = inbox.json() as { messages: { id: string; payload: { report_token?: string } }[] };
        lastMessageId = messages[0]?.id ?? lastMessageId;
        for (const { payload } of messages.slice(0, 3)) {
          const token = payload.report_token;
          if (token === undefined) continue;
          for (const kind of ['impression', 'click']) {
            const call = { kind: 'interaction', method: 'POST', path: '/v1/interactions', body: { token, kind } };
            // A click is counted for as long as the ledger knows its device; an erased one is gone.
            await callNode({ ...call, expected: [204] });
          }
        }
      },
    },
  ];
}
