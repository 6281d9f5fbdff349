import type { FastifyInstance } from 'fastify';
import { setTimeout } from 'node:timers/promises';
import { documentedAuthoringLimits } from '../../../src/app/campaigns/authoring.ts';
import { makeCampaignTotals } from '../../../src/app/campaigns/search-campaigns.ts';
import { maxAgeMilliseconds } from '../../../src/app/fresh-cache.ts';
import { archiveKey, issueKey } from '../../../src/app/keys/keys.ts';
import { makeAcceptPush } from '../../../src/app/push/accept-push.ts';
import { makeAdmitPush } from '../../../src/app/push/admit-push.ts';
import { documentedSegmentLimits } from '../../../src/app/segments/segment-limits.ts';
import { makeTokenBatches } from '../../../src/app/tokens/prove-clients.ts';
import { makeTokenAuthority } from '../../../src/app/tokens/token-authority.ts';
import type { TokenAuthority } from '../../../src/app/tokens/token-authority.ts';
import { readTokenSecrets, retireTokenSecret } from '../../../src/app/tokens/token-secrets.ts';
import { makeEnsureToday } from '../../../src/app/users/events.ts';
import { changeWorkspace, createWorkspace, parseControls } from '../../../src/app/workspaces.ts';
import type { WorkspaceControlTexts } from '../../../src/app/workspaces.ts';
import type { Clock, makeManualClock } from '../../../src/clock.ts';
import { ServiceError } from '../../../src/domain/errors.ts';
import type { KeyKind } from '../../../src/domain/access/keys.ts';
import { makeEncryption } from '../../../src/domain/crypto/encryption.ts';
import { signPush } from '../../../src/domain/crypto/signatures.ts';
import { makeDoorbell } from '../../../src/engine/doorbell.ts';
import { businessEventRoutes } from '../../../src/http/business-events.ts';
import { campaignRoutes } from '../../../src/http/campaigns/routes.ts';
import { dataRoutes } from '../../../src/http/data/routes.ts';
import { inboxStatsRoutes } from '../../../src/http/campaigns/inbox-stats.ts';
import { explainRoutes } from '../../../src/http/explain.ts';
import { pushRoutes } from '../../../src/http/push/routes.ts';
import { makeVendorHeaders } from '../../../src/http/route/vendor-headers.ts';
import { segmentRoutes } from '../../../src/http/segments/routes.ts';
import { buildServer } from '../../../src/http/server/build-server.ts';
import { statsRoutes } from '../../../src/http/stats/stats.ts';
import { tokenRoutes } from '../../../src/http/tokens.ts';
import { makeLog } from '../../../src/log.ts';
import type { Database } from '../../../src/storage/database.ts';
import type { WorkspaceChanges } from '../../../src/storage/workspaces.ts';
import { measureForTests } from '../../push/measure-for-tests.ts';
import type { History } from '../../rig/history.ts';

type Parts = { database: Database; clock: ReturnType<typeof makeManualClock>; history: History };

/** A credential of the rig. The history names it and never contains its secret. */
export type RigKey = { name: string; kind: KeyKind; id: string; secret: string };

export type RigWorkspace = {
  id: string;
  /** The first word of everything that this workspace names. */
  word: string;
  dbName: string;
  keys: Record<'data' | 'campaigns' | 'push' | 'oauth', RigKey>;
};

export type RigCall = {
  workspace: RigWorkspace;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  path: string;
  body?: unknown;
  /** The key of the caller; a push is signed with it. */
  key?: RigKey;
  /** An access token instead of a key. */
  token?: string;
  form?: Record<string, string>;
  idempotencyKey?: string;
  /** True if the caller does not receive the answer. */
  isLost?: boolean;
};

export type RigAnswer = { status: number; body: any; total?: number };
export type RecordedNode = Awaited<ReturnType<typeof makeRecordedNode>>;

const actor = { kind: 'system', name: 'the simulation' } as const;

/** The API of a node in this process, which notes every call with its answer and both times. */
export async function makeRecordedNode({ database, clock, history }: Parts) {
  const encryption = makeEncryption(Buffer.alloc(32, 9));
  const tokens = makeTokenAuthority({ database, clock, encryption });
  const server = await startServer({ database, clock, encryption, tokens });

  let calls = 0;

  async function recorded(line: Record<string, unknown>, answer: () => Promise<RigAnswer | 'lost'>) {
    const number = history.nextNumber();
    calls += 1;
    history.note({ kind: 'call', number, at: clock.now().getTime(), ...line });
    // A use case that an operator calls throws where a route answers with an error. Two operators may retire the same secret.
    const given = await answer().catch((error: unknown) => ({
      status: error instanceof ServiceError && error.code === 'NOT_FOUND' ? 404 : 500,
      body: { error: String(error) },
    }));
    const at = clock.now().getTime();
    if (given === 'lost') history.note({ kind: 'lost', number, at });
    else history.note({ kind: 'reply', number, at, ...given });
    return given === 'lost' ? { status: 0, body: {} } : given;
  }

  async function call(given: RigCall): Promise<RigAnswer> {
    const { workspace, method, path, body, key, token, form, idempotencyKey, isLost = false } = given;
    const line = {
      ...{ workspace: workspace.id, method, path, body: body ?? withoutSecret(form), credential: key?.name, token },
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    };
    return recorded(line, async () => {
      const reply = await server.inject({
        ...{ method, url: path, headers: headersOf(given), remoteAddress: '192.0.2.7' },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
        ...(form === undefined ? {} : { payload: new URLSearchParams(form).toString() }),
      });
      const total = reply.headers['x-total-count'];
      const answer = { status: reply.statusCode, body: readJson(reply.body) };
      return isLost ? 'lost' : { ...answer, ...(total === undefined ? {} : { total: Number(total) }) };
    });
  }

  return {
    call,
    /** @param cap the most messages to a user in a day; null: as many as there are */
    async addWorkspace(word: string, cap: number | null): Promise<RigWorkspace> {
      const given = { id: undefined, dbName: undefined, name: word, timeZone: 'UTC', dataCenter: '01' };
      const { id, dbName } = await createWorkspace({ database }, { ...given, at: clock.now() });
      const workspace = { id, word, dbName } as RigWorkspace;
      if (cap !== null) {
        const controls = parseControls({ frequencyCaps: `${cap}/1d` } as WorkspaceControlTexts);
        await changeWorkspace({ database }, { id, ...controls } as WorkspaceChanges & { id: string });
      }
      history.note({ kind: 'workspace', id, word, cap });
      const make = async (kind: KeyKind) => (await addKey(workspace, { kind, name: `${word} ${kind}` }))!;
      const [data, campaigns, push, oauth] = [await make('data'), await make('campaigns'), await make('push'), await make('oauth')]; // prettier-ignore
      return { ...workspace, keys: { data, campaigns, push, oauth } };
    },
    addKey,
    /** An operator archives a key: it ends at once. */
    archiveKey: (workspace: RigWorkspace, key: RigKey) =>
      recorded(
        { workspace: workspace.id, method: 'OPERATOR', path: '/keys/archive', body: { name: key.name } },
        async () => {
          const deps = { database, clock, tokens };
          await archiveKey(deps, { actor, workspaceId: workspace.id, keyId: key.id });
          return { status: 200, body: {} };
        },
      ),
    /** An operator retires the secret that signs tokens, as another process does: it ends them within a second. */
    retireTokenSecret: (workspace: RigWorkspace) =>
      recorded({ workspace: workspace.id, method: 'OPERATOR', path: '/tokens/retire-secret' }, async () => {
        const { secrets } = await readTokenSecrets({ database });
        const issuing = secrets.find(({ state }) => state === 'issues');
        if (issuing) await retireTokenSecret({ database, clock, encryption }, { actor, number: issuing.number });
        clock.advance(maxAgeMilliseconds);
        return { status: 200, body: {} };
      }),
    close: () => server.close(),
    count: () => calls,
    encryption,
  };

  async function addKey(workspace: RigWorkspace, { kind, name }: { kind: KeyKind; name: string }) {
    let made: RigKey | undefined;
    const line = { workspace: workspace.id, method: 'OPERATOR', path: '/keys/create', body: { name, kind } };
    await recorded(line, async () => {
      const deps = { database, clock, encryption };
      const { key, secret } = await issueKey(deps, { actor, workspaceId: workspace.id, kind, name });
      made = { name, kind, id: key.id, secret };
      return { status: 200, body: {} };
    });
    return made;
  }
}

function headersOf({ workspace, key, token, body, form, idempotencyKey }: RigCall): Record<string, string> {
  const credential =
    token !== undefined
      ? { authorization: `Bearer ${token}` }
      : key && key.kind !== 'push'
        ? { authorization: `Basic ${Buffer.from(`${workspace.id}:${key.secret}`).toString('base64')}` }
        : {};
  return {
    'svc-appkey': workspace.id,
    'svc-dbname': workspace.dbName,
    ...credential,
    ...(key?.kind === 'push' ? pushHeaders(workspace, { key, body: body as PushBody }) : {}),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
}

type PushBody = { campaignName: string; targetAudience: string };

function pushHeaders({ id }: RigWorkspace, { key, body }: { key: RigKey; body: PushBody }): Record<string, string> {
  return {
    'x-svc-appkey': id,
    'x-svc-pushapi-signature': signPush({ appId: id, campaignName: body.campaignName, key: key.secret }),
    'x-svc-query-type': body.targetAudience.toLowerCase(),
  };
}

function withoutSecret(form: Record<string, string> | undefined): Record<string, string> | undefined {
  return form && Object.fromEntries(Object.entries(form).filter(([name]) => name !== 'client_secret'));
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}

type ServerParts = {
  database: Database;
  clock: Clock;
  encryption: ReturnType<typeof makeEncryption>;
  tokens: TokenAuthority;
};

async function startServer({ database, clock, encryption, tokens }: ServerParts): Promise<FastifyInstance> {
  const log = makeLog({ level: 'silent', pretty: false });
  const named = { vendorHeaders: makeVendorHeaders('SVC'), serviceDomain: undefined };
  const deps = { database, clock, encryption, tokens, ...named };
  const authoring = { ...deps, limits: documentedAuthoringLimits, totals: makeCampaignTotals(deps) };
  return buildServer({ log, clock, trustProxy: false }, [
    tokenRoutes({ ...deps, wait: () => setTimeout(0), batches: makeTokenBatches(deps) }),
    pushRoutes({
      ...{ ...deps, measure: measureForTests, admitPush: makeAdmitPush(deps) },
      acceptPush: makeAcceptPush({ ...deps, doorbell: makeDoorbell(deps) }),
    }),
    dataRoutes({ ...deps, ensureToday: makeEnsureToday(deps) }),
    segmentRoutes({ ...deps, limits: documentedSegmentLimits }),
    campaignRoutes({ ...authoring, migrationGuideFile: 'docs/migration-v1-v5.md' }),
    businessEventRoutes(deps),
    inboxStatsRoutes(deps),
    explainRoutes(deps),
    statsRoutes(deps),
  ]);
}
