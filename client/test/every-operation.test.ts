import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../../server/test/carillon-bundle.ts';
import type { CarillonBundle } from '../../server/test/carillon-bundle.ts';
import examples from '../../server/src/http/openapi/examples.json' with { type: 'json' };
import { operations } from '../src/generated/operations.ts';
import { CarillonError, makeCarillonClient } from '../src/index.ts';
import type { CarillonClient, OperationId } from '../src/index.ts';

type Example = { parameters?: Record<string, string>; body?: unknown };

describe('every operation of the document', () => {
  let bundle: CarillonBundle;
  let client: CarillonClient;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    client = makeCarillonClient({
      ...{ baseUrl: bundle.url, workspaceId: bundle.workspaceId, dbName: bundle.block.dbName! },
      ...{ dataKey: bundle.keys.data, pushKey: bundle.keys.push, campaignsKey: bundle.keys.campaigns },
      maxRepeats: 0,
    });
  });
  afterAll(() => bundle.stop());

  // Operations of the sandbox come last, and of them the reset: it changes the keys of the demo workspace.
  const rankOf = (id: OperationId): number => (id === 'resetSandbox' ? 2 : Number(operations[id].family === 'Sandbox'));
  const ids = (Object.keys(operations) as OperationId[]).sort((one, other) => rankOf(one) - rankOf(other));

  /** Calls the operation as its recorded example does: its ids are of another workspace, so a refusal by the family is an answer. */
  async function call(id: OperationId): Promise<{ status: number; kind: string }> {
    const { parameters = {}, body } = (examples as Record<string, Example>)[id]!;
    const query = operations[id].query as readonly string[];
    const own = Object.entries(parameters).filter(
      ([name]) => query.includes(name) || operations[id].path.includes(`{${name}}`),
    );
    const given = Object.fromEntries(own.filter(([name]) => name !== 'app_id' && name !== 'workspace_id'));
    try {
      const reply = await client.callWithReply(id, { parameters: given, body } as never);
      expect(reply.headers.get('x-request-id')).toBe(reply.requestId);
      return { status: reply.status, kind: 'reply' };
    } catch (error) {
      if (!(error instanceof CarillonError)) throw error;
      return { status: error.status, kind: error.fault.kind };
    }
  }

  test('reaches its route with the right credentials, and replies as its family does', async () => {
    const wrong: string[] = [];
    const replied: string[] = [];
    for (const id of ids) {
      const { status, kind } = await call(id);
      if (kind === 'reply') replied.push(id);
      if (['foreign', 'unreachable'].includes(kind) || [401, 403, 405].includes(status))
        wrong.push(`${id}: ${status} ${kind}`);
    }
    // A push is signed by `push.send` and not by `call`; the app API is called by apps, with the key of an app, and the source by the
    // libraries of Segment, which send a key in their own way.
    const isOwn = (one: string) => {
      const { path } = operations[one.split(':')[0] as OperationId];
      return !one.startsWith('sendPush') && !/^\/(?:v1\/app|segment)\//.test(path);
    };
    expect(wrong.filter(isOwn)).toEqual([]);
    expect(ids.length).toBeGreaterThan(70);
    expect(replied.length).toBeGreaterThan(35);
  }, 120_000);
});
