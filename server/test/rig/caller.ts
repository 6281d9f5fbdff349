import { gunzipSync } from 'node:zlib';
import { signPush } from '../../src/domain/crypto/signatures.ts';
import type { StartLine } from '../start/start-bundle.ts';
import type { Recorder } from './history.ts';

export type Answer = { httpStatus: number; retryAfter: string | null; body: Record<string, any> };
export type PushBody = { campaignName: string; targetAudience: string } & Record<string, unknown>;

/** A 5xx is a 503 that says when to come back (docs/errors.md), and no other. */
export const isDocumented = ({ httpStatus, retryAfter }: Answer): boolean =>
  httpStatus < 500 || (httpStatus === 503 && retryAfter !== null);

export type Caller = ReturnType<typeof makeCaller>;

type Identity = Pick<StartLine, 'workspaceId' | 'keys'>;

/** The audience of a push: the user with this id. */
export const toUser = (attributeValue: string) => ({
  targetAudience: 'User',
  targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue },
});

/** The Authorization header of a workspace's key. */
export const authorize = ({ workspaceId, keys }: Identity, key: keyof NonNullable<StartLine['keys']>) => ({
  authorization: `Basic ${Buffer.from(`${workspaceId}:${keys![key]}`).toString('base64')}`,
});

/** A push as version 2.1 takes it, and the signature that version 2 takes in the body. */
export function signedPush({ workspaceId, keys }: Identity, body: PushBody) {
  const signature = signPush({ appId: workspaceId, campaignName: body.campaignName, key: keys!.push });
  const headers = {
    'x-svc-appkey': workspaceId,
    'x-svc-pushapi-signature': signature,
    'x-svc-query-type': body.targetAudience.toLowerCase(),
  };
  return { path: '/v2.1/transaction/sendpush', headers, signature, body: { ...pushContent, ...body } };
}

type Sent = { headers: Record<string, string>; body: unknown };

/**
 * Calls the interfaces of a node as the demo workspace. The address is asked for at each call: a node may move.
 *
 * @param recorder notes each call and its answer
 */
export function makeCaller(line: Identity & { dbName?: string }, url: () => string, recorder?: Recorder) {
  const { workspaceId, dbName = '' } = line;
  const send = async (method: string, path: string, sent: Sent): Promise<Answer> => {
    if (!recorder) return await fetchAnswer(method, path, sent);
    const number = recorder.nextNumber();
    const { body } = sent;
    recorder.note({ kind: 'call', number, at: Date.now(), workspace: workspaceId, method, path, body });
    try {
      const answer = await fetchAnswer(method, path, sent);
      recorder.note({ kind: 'reply', number, at: Date.now(), status: answer.httpStatus, body: answer.body });
      return answer;
    } catch (error) {
      recorder.note({ kind: 'lost', number, at: Date.now() });
      throw error;
    }
  };
  const fetchAnswer = async (method: string, path: string, { headers, body }: Sent): Promise<Answer> => {
    const answer = await fetch(`${url()}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(maxAnswerMilliseconds),
    });
    return {
      httpStatus: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      body: (await answer.json()) as Record<string, any>,
    };
  };
  const data = authorize(line, 'data');
  return {
    push(push: PushBody): Promise<Answer> {
      const { path, headers, body } = signedPush(line, push);
      return send('POST', path, { headers, body });
    },
    readyz: (): Promise<Answer> => send('GET', '/readyz', { headers: {}, body: undefined }),
    /** A user without a device, so that no campaign reaches more than it did. */
    saveUser: (customerId: string): Promise<Answer> =>
      send('POST', `/v1/customer/${workspaceId}`, {
        headers: data,
        body: { type: 'customer', customer_id: customerId, attributes: { first_name: 'Torture' } },
      }),
    fillSegment: (file: { name: string; fileUrl: string; callbackUrl: string }): Promise<Answer> =>
      send('POST', '/v2/custom-segments/file-segment', {
        headers: { ...data, 'svc-dbname': dbName },
        body: {
          name: file.name,
          attribute_name: 'uid',
          attribute_type: 'string',
          file_url: file.fileUrl,
          callback_url: file.callbackUrl,
          expiry_time: 30,
        },
      }),
  };
}

const maxAnswerMilliseconds = 60_000;

/** The content of a push to phones and browsers. */
export const pushContent = {
  targetPlatform: ['ANDROID', 'IOS', 'WEB'],
  payload: {
    ANDROID: { title: 'Hello', message: 'To an Android phone' },
    IOS: { title: 'Hello', message: 'To an iPhone' },
    WEB: {
      title: 'Hello',
      message: 'To a browser',
      redirectURL: 'https://example.com/',
      iconURL: 'https://example.com/icon.png',
    },
  },
  campaignDelivery: { type: 'soon' },
};

export type Call = ReturnType<typeof makeCall>;

/** Returns a function that calls the campaign and data routes of a node as its demo workspace. @throws Error unless it succeeds */
export function makeCall(line: StartLine) {
  const { url, workspaceId } = line;
  const call = async (method: string, path: string, body?: unknown): Promise<Record<string, any>> => {
    const key = /^\/v1\/(transition|event-streams)/.test(path) ? 'data' : 'campaigns';
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: { ...authorize(line, key), 'svc-appkey': workspaceId, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return JSON.parse(text);
  };
  return Object.assign(call, {
    workspaceId,
    async readGzip(path: string, headers: Record<string, string>): Promise<string> {
      const reply = await fetch(`${url}${path}`, { headers });
      if (!reply.ok) throw new Error(`GET ${path}: ${reply.status}`);
      return gunzipSync(Buffer.from(await reply.arrayBuffer())).toString('utf8');
    },
  });
}
