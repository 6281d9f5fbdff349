import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createKey } from '../../src/app/keys/keys.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { signPush } from '../../src/domain/crypto/signatures.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { until } from '../carillon-bundle.ts';
import { exampleCalls } from './example-calls.ts';
import type { ExampleCall, Walk } from './example-calls.ts';
import { makeSettle, shownSignature } from './settle-values.ts';
import type { Example } from '../../src/http/openapi/document.ts';

type Operation = {
  operationId: string;
  security: Record<string, unknown>[];
  parameters?: { name: string; in: 'path' | 'query' | 'header' }[];
  requestBody?: { content: Record<string, unknown> };
};
type Found = { method: string; path: string; operation: Operation };

/**
 * Makes every example call at a real node, in order, and gives what was sent and what was said, settled.
 *
 * @param options.beforeCall waited for before each call, with the name of the operation
 */
export async function walkExamples(
  bundle: CarillonBundle,
  { beforeCall }: { beforeCall?: (operationId: string) => Promise<void> } = {},
): Promise<Record<string, Example>> {
  const operations = await readOperations(bundle);
  const receiver = await startReceiver();
  try {
    const answers = new Map<string, unknown>();
    const [{ dbName }] = (await bundle.database`
      select db_name as "dbName" from workspaces where id = ${bundle.workspaceId}`) as unknown as [{ dbName: string }];
    const startedAt = Date.now();
    const walk: Walk = {
      ...{ workspaceId: bundle.workspaceId, dbName, receiver: receiver.url },
      keys: { ...bundle.keys, app: await makeAppKey(bundle) },
      inHours: (hours) => new Date(startedAt + hours * 3_600_000).toISOString().slice(0, 19),
      said: (operationId) => answers.get(operationId),
    };
    const settle = makeSettle(walk);
    const examples: Record<string, Example> = {};
    for (const call of exampleCalls(walk)) {
      const found = operations.get(call.operationId);
      if (!found) throw new Error(`no operation is named ${call.operationId}`);
      // So many calls in a minute no integration makes.
      await bundle.database`delete from limit_windows`;
      if (call.operationId === 'removeEventStream') {
        const body = await receiver.streamed;
        const parameters = { ...shownWebhook, 'webhook-id': body.svc_request_id };
        examples.eventBatch = settle({ parameters, body }) as Example;
      }
      await beforeCall?.(call.operationId);
      const made = await makeCall({ bundle, walk }, call, found);
      answers.set(call.operationId, made.answer);
      examples[call.operationId] = settle(show(made)) as Example;
      if (call.operationId === 'createFileSegment') {
        const callback = await receiver.called;
        examples.fileSegmentCallback = settle({ parameters: shownWebhook, body: callback }) as Example;
      }
    }
    return Object.fromEntries(Object.entries(examples).sort(([one], [other]) => (one < other ? -1 : 1)));
  } finally {
    await receiver.stop();
  }
}

/** The demo has none: an app key is made for an app. Its secret is not encrypted, so any key of this process does. */
async function makeAppKey({ database, workspaceId }: CarillonBundle): Promise<string> {
  const encryption = makeEncryption(Buffer.alloc(32, 1));
  const made = { workspaceId, kind: 'app' as const, name: 'Shop app', at: new Date() };
  return (await createKey({ encryption }, database, made)).secret;
}

const shownWebhook = {
  'webhook-id': '000000000000000000000001',
  'webhook-timestamp': '1769851800',
  'webhook-signature': `v1,${'0'.repeat(43)}=`,
};

async function readOperations({ url }: CarillonBundle): Promise<Map<string, Found>> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        operation.operationId,
        { method: method.toUpperCase(), path, operation },
      ]),
    ),
  );
}

type Made = { status: number; answer: unknown; parameters: Record<string, string>; body: unknown };
type Caller = { bundle: CarillonBundle; walk: Walk };

async function makeCall(caller: Caller, call: ExampleCall, found: Found): Promise<Made> {
  const { parameters, body } = sign(caller, call);
  const request = (): Promise<{ status: number; text: string }> => send(caller, found, { parameters, body });
  const read = async (): Promise<Made> => {
    const { status, text } = await request();
    const answer = /^[[{]/.test(text) ? (JSON.parse(text) as unknown) : text;
    if (status >= 400 || (answer as { status?: string }).status === 'Fail')
      throw new Error(`${call.operationId}: ${status} ${text}`);
    return { status, answer, parameters, body };
  };
  const { until: isRight } = call;
  if (!isRight) return read();
  return until(async () => {
    await caller.bundle.database`delete from limit_windows`;
    const made = await read();
    return isRight(made.answer) ? made : undefined;
  });
}

/** A push is signed with the key of the walk. */
function sign({ walk }: Caller, { parameters = {}, body }: ExampleCall): Pick<Made, 'parameters' | 'body'> {
  const { campaignName, signature: inBody } = (body ?? {}) as { campaignName?: string; signature?: string };
  if (campaignName === undefined) return { parameters, body };
  const signature = signPush({ appId: walk.workspaceId, campaignName, key: walk.keys.push });
  if (inBody !== undefined) return { parameters, body: { ...(body as object), signature } };
  return { parameters: { ...parameters, 'X-*-PushAPI-Signature': signature }, body };
}

async function send(
  { bundle, walk }: Caller,
  { method, path, operation }: Found,
  { parameters, body }: Pick<Made, 'parameters' | 'body'>,
): Promise<{ status: number; text: string }> {
  const placeOf = new Map((operation.parameters ?? []).map(({ name, in: place }) => [name, place]));
  const url = new URL(bundle.url);
  let filled = path;
  const headers: Record<string, string> = credentialsOf(operation, walk);
  for (const [starred, value] of Object.entries(parameters)) {
    const name = starred.replace('*', 'SVC');
    const place = placeOf.get(name);
    if (place === undefined) throw new Error(`${operation.operationId} has no parameter ${name}`);
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'query') url.searchParams.set(name, value);
    else headers[name] = value;
  }
  url.pathname = filled;
  const isForm = Object.keys(operation.requestBody?.content ?? {})[0]?.endsWith('urlencoded');
  if (body !== undefined && !isForm) headers['content-type'] = 'application/json';
  const sent = isForm ? new URLSearchParams(body as Record<string, string>) : JSON.stringify(body);
  const answer = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body: sent }),
  });
  const isCompressed = answer.headers.get('content-type') === 'application/gzip';
  const text = await answer.text();
  return { status: answer.status, text: isCompressed ? '(bytes)' : text };
}

function credentialsOf({ security }: Operation, { workspaceId, keys }: Walk): Record<string, string> {
  const schemes = security.flatMap((scheme) => Object.keys(scheme));
  if (schemes.includes('appKey')) return { authorization: `Bearer ${keys.app}` };
  if (schemes.includes('writeKey'))
    return { authorization: `Basic ${Buffer.from(`${keys.data}:`).toString('base64')}` };
  const scheme = (['data', 'campaigns', 'push'] as const).find((name) => schemes.includes(`${name}Key`));
  const key = scheme && keys[scheme];
  if (key === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${workspaceId}:${key}`).toString('base64')}` };
}

function show({ status, answer, parameters, body }: Made): Example {
  const name = (body as { campaignName?: string } | undefined)?.campaignName;
  const signature = name === undefined ? undefined : shownSignature(name);
  const isInBody = signature !== undefined && (body as { signature?: string }).signature !== undefined;
  const shownHeader = signature === undefined || isInBody ? {} : { 'X-*-PushAPI-Signature': signature };
  return {
    parameters: { ...parameters, ...shownHeader },
    ...(body === undefined ? {} : { body: isInBody ? { ...(body as object), signature } : body }),
    status,
    // A page is no example of itself.
    ...(typeof answer === 'string' ? {} : { answer }),
  };
}

/** Serves the file of a segment, and waits for its callback and for a batch of events, of which it keeps the first. */
async function startReceiver() {
  const called = Promise.withResolvers<unknown>();
  const streamed = Promise.withResolvers<{ svc_request_id: string }>();
  const server = createServer((request, response) => {
    if (request.method === 'GET') return response.setHeader('content-type', 'text/csv').end('ada\ngrace\nunknown\n');
    let text = '';
    request.on('data', (piece) => (text += piece));
    request.on('end', () => {
      response.end();
      const body = JSON.parse(text);
      if (request.url !== '/events') return called.resolve(body);
      const [first] = body.events;
      return streamed.resolve({
        ...body,
        events: [{ ...first, event_time: Number(shownWebhook['webhook-timestamp']) }],
      });
    });
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    called: called.promise,
    streamed: streamed.promise,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
