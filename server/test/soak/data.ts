import { authorize } from '../rig/caller.ts';
import { steadyUsers } from './bundle.ts';
import type { LoadContext, SoakAction } from './run-actions.ts';

// Bounded, so that the tables of users and devices end their growth while it warms up.
const writtenUsers = 300;
const dyingDevices = 30;
const elementsPerBatch = 20;

/** Users, devices, events and interactions; devices whose tokens are dead; users that are merged and erased. */
export function dataLoad({ bundle }: LoadContext): SoakAction[] {
  const { callNode, random, workspaceId } = bundle;
  const headers = authorize(bundle, 'data');
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

export const mainSegment = 'Soak members';

const linesPerFile = 200;

/** Segments filled from files at an address, changed, archived and left to expire. */
export function segmentLoad({ bundle, ledger }: LoadContext): SoakAction[] {
  const { callNode, random, receiver, dbName } = bundle;
  const headers = { ...authorize(bundle, 'data'), 'svc-dbname': dbName };
  const path = '/v2/custom-segments/file-segment';
  let segments = 0;

  const file = (): string =>
    Array.from({ length: linesPerFile }, () => `demo-user-${random.between(0, steadyUsers + 20)}`).join('\n');
  const fill = (name: string, more: Record<string, unknown> = {}) => ({
    ...{ name, attribute_name: 'uid', attribute_type: 'string', file_url: receiver.serve(file()) },
    ...{ callback_url: receiver.callbackUrl, ...more },
  });
  /** Ten an hour are accepted, and the clock passes hours in seconds. @returns whether this one was */
  async function operate(method: 'POST' | 'PUT', operation: string, body: object): Promise<boolean> {
    const kind = `segment ${method === 'POST' ? 'create' : operation.slice(1)}`;
    const answer = await callNode({ kind, method, path: path + operation, headers, body, expected: [202, 429] });
    if (answer?.status === 202) ledger.segmentOperations += 1;
    return answer?.status === 202;
  }
  const change = (operation: string, everySeconds: number): SoakAction => ({
    name: `segment ${operation}`,
    everySeconds,
    run: async () => void (await operate('PUT', `/${operation}`, fill(mainSegment))),
  });

  return [
    change('add-users', 20),
    change('remove-users', 25),
    change('replace', 45),
    {
      name: 'segment that expires',
      everySeconds: 30,
      run: async () => void (await operate('POST', '', fill(`Soak expires ${(segments += 1)}`, { expiry_time: 1 }))),
    },
    {
      name: 'segment whose file cannot be had',
      everySeconds: 60,
      async run() {
        const kind = random.between(0, 1) === 0 ? 'missing' : 'truncated';
        const more = { file_url: receiver.addressOf(kind), expiry_time: 1 };
        await operate('POST', '', fill(`Soak ${kind} ${(segments += 1)}`, more));
      },
    },
    {
      name: 'segment that is archived',
      everySeconds: 40,
      async run() {
        const name = `Soak archived ${(segments += 1)}`;
        if (!(await operate('POST', '', fill(name, { expiry_time: 30 })))) return;
        const call = { method: 'PATCH', path: '/v2/custom-segments/archive', headers, body: { name } };
        await callNode({ kind: 'segment archive', ...call, expected: [200, 409] });
      },
    },
    {
      name: 'segments listed',
      everySeconds: 3,
      async run() {
        const query = random.between(0, 1) === 0 ? '' : `?name=${encodeURIComponent(mainSegment)}`;
        const call = { method: 'GET', path: `/v3/custom-segments${query}`, headers };
        await callNode({ kind: 'segment list', ...call, expected: [200] });
      },
    },
  ];
}

/** The segment that pushes go to; made before the load begins. */
export async function makeMainSegment({ bundle }: Pick<LoadContext, 'bundle'>): Promise<void> {
  const { callNode, receiver, dbName } = bundle;
  const values = Array.from({ length: linesPerFile }, (_, number) => `demo-user-${number}`);
  await callNode({
    kind: 'segment create',
    method: 'POST',
    path: '/v2/custom-segments/file-segment',
    headers: { ...authorize(bundle, 'data'), 'svc-dbname': dbName },
    body: {
      ...{ name: mainSegment, attribute_name: 'uid', attribute_type: 'string', expiry_time: 3650 },
      file_url: receiver.serve(values.join('\n')),
    },
    expected: [202],
  });
}
