import { steadyUsers } from '../soak-bundle.ts';
import type { LoadContext, SoakAction } from './soak-action.ts';

export const mainSegment = 'Soak members';

const linesPerFile = 200;

/** Segments filled from files at an address, changed, archived and left to expire. */
export function segmentLoad({ bundle, ledger }: LoadContext): SoakAction[] {
  const { callNode, random, receiver, workspaceId, keys, dbName } = bundle;
  const headers = {
    authorization: `Basic ${Buffer.from(`${workspaceId}:${keys.data}`).toString('base64')}`,
    'svc-dbname': dbName,
  };
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
  const { callNode, receiver, workspaceId, keys, dbName } = bundle;
  const values = Array.from({ length: linesPerFile }, (_, number) => `demo-user-${number}`);
  await callNode({
    kind: 'segment create',
    method: 'POST',
    path: '/v2/custom-segments/file-segment',
    headers: {
      authorization: `Basic ${Buffer.from(`${workspaceId}:${keys.data}`).toString('base64')}`,
      'svc-dbname': dbName,
    },
    body: {
      ...{ name: mainSegment, attribute_name: 'uid', attribute_type: 'string', expiry_time: 3650 },
      file_url: receiver.serve(values.join('\n')),
    },
    expected: [202],
  });
}
