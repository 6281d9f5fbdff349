import type { FastifyInstance } from 'fastify';
import { createKey } from '../../src/app/keys/keys.ts';
import type { CreateKeyCommand } from '../../src/app/keys/keys.ts';
import { makeTokenBatches } from '../../src/app/tokens/prove-clients.ts';
import { makeTokenAuthority } from '../../src/app/tokens/token-authority.ts';
import { makeManualClock } from '../../src/clock.ts';
import type { Clock } from '../../src/clock.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import type { Encryption } from '../../src/domain/crypto/encryption.ts';
import { makeRequireBearer } from '../../src/http/route/auth.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import type { TrustedProxies } from '../../src/http/server/call-origin.ts';
import type { CompletedCall, RouteFamily } from '../../src/http/server/build-server.ts';
import { tokenRoutes } from '../../src/http/tokens.ts';
import { makeLog } from '../../src/log.ts';
import type { Database } from '../../src/storage/database.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

export const start = new Date('2026-03-01T12:00:00Z');

export type Call = {
  headers?: Record<string, string>;
  /** Address of the caller; each test workspace may use its own. */
  address?: string;
  method?: 'POST' | 'GET' | 'PUT';
};

type NodeOptions = {
  trustProxy?: TrustedProxies;
  /** What this node has instead of what the others share. */
  database?: Database;
  clock?: Clock;
  encryption?: Encryption;
};

export type TokenBundle = Awaited<ReturnType<typeof makeTokenBundle>>;

/** A server with the token routes and one Bearer route per scope, on a database of its own and a clock that stands. */
export async function makeTokenBundle(options: { serviceDomain?: string } = {}) {
  const test: TestDatabase = await createTestDatabase();
  const { database } = test;
  const clock = makeManualClock(start);
  const encryption = makeEncryption(Buffer.alloc(32, 7));
  const logLines: string[] = [];
  const calls: CompletedCall[] = [];
  const waits: number[] = [];
  const log = makeLog({ level: 'trace', pretty: false }, { write: (line: string) => void logLines.push(line) });

  /** A node: a server with what it keeps in memory. */
  async function makeNode({ trustProxy = false, ...own }: NodeOptions = {}) {
    const wait = async (milliseconds: number) => void waits.push(milliseconds);
    const node = { database, clock, encryption, ...own };
    const tokens = makeTokenAuthority(node);
    const deps = { ...node, tokens, wait, batches: makeTokenBatches(node), ...options };
    const requireScope = makeRequireBearer(deps);
    const guarded: RouteFamily = async (server) => {
      for (const scope of ['data', 'campaign'] as const) {
        server.get(`/guarded/${scope}`, { preHandler: requireScope(scope) }, async (request) => ({
          key: request.callerKey?.id,
          workspace: request.facts.workspaceId,
        }));
      }
    };
    const server = await buildServer({ log, clock, trustProxy, onCall: (call) => void calls.push(call) }, [
      tokenRoutes(deps),
      guarded,
    ]);
    return { server, tokens };
  }

  const makeServer = async (how: NodeOptions = {}): Promise<FastifyInstance> => (await makeNode(how)).server;
  const { server, tokens } = await makeNode();
  return {
    ...test,
    clock,
    encryption,
    logLines,
    calls,
    waits,
    server,
    /** Those of `server`: a change that is made with them is one that this node answered. */
    tokens,
    makeServer,
    makeNode,
    makeWorkspace: () => insertTestWorkspace(database, clock.now()),
    makeKey: (command: Partial<CreateKeyCommand> & { workspaceId: string }) =>
      createKey({ encryption }, database, { kind: 'oauth', name: 'Test key', at: clock.now(), ...command }),
    /** Sends a form; a string is sent as it is. */
    async post(path: string, form: Record<string, string> | string, call: Call = {}) {
      return postTo(server, { path, form, ...call });
    },
    async guarded(token: string, scope = 'data') {
      return server.inject({ url: `/guarded/${scope}`, headers: { authorization: `Bearer ${token}` } });
    },
    async end() {
      await server.close();
      await test.drop();
    },
  };
}

/** Sends a form to one of several servers. */
export async function postTo(
  server: FastifyInstance,
  { path, form, address, headers, method = 'POST' }: Call & { path: string; form: Record<string, string> | string },
) {
  return server.inject({
    method,
    url: path,
    ...(address === undefined ? {} : { remoteAddress: address }),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
  });
}

export const generation = (clientId: string, clientSecret: string) => ({
  grant_type: 'client_credentials',
  client_id: clientId,
  client_secret: clientSecret,
});

export const refreshing = (clientId: string, refreshToken: string) => ({
  grant_type: 'refresh_token',
  client_id: clientId,
  refresh_token: refreshToken,
});
