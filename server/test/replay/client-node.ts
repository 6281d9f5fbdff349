import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { signPush } from '../../src/domain/crypto/signatures.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

/**
 * A public client of the interface: what it sends and what it does with the answers, in our own words. Only base URL, keys and
 * abbreviation are those of this node. `replay` fails if the client would fail, and if what it asked for did not happen.
 */
export type PublicClient = {
  kind: string;
  /** What its users report when a server behaves otherwise. */
  breaksOn: string;
  /** Present if the client does not work whole here. */
  differs?: Difference;
  replay(node: ClientNode): Promise<void>;
};

/**
 * Where a client stops: the error of its replay, and the rule behind it. The test fails if the replay passes, or fails with
 * another error.
 */
export type Difference = { answer: RegExp; because: string };

export type ClientNode = CarillonBundle & ReturnType<typeof makeCalls> & ReturnType<typeof makeEffects>;

export async function startClientNode(): Promise<ClientNode> {
  const bundle = await startCarillonBundle();
  return Object.assign(bundle, makeCalls(bundle), makeEffects(bundle));
}

type CalledRoute = `${'GET' | 'POST'} ${string}`;
type Sent = { headers?: Record<string, string>; gzip?: true; mark?: true };

/** What clients send. The routes that they call are remembered for the report. */
function makeCalls(bundle: CarillonBundle) {
  const { url, workspaceId, keys } = bundle;
  const { remember, prepare, takeCalled } = makeCalledRoutes(workspaceId);

  async function send(route: CalledRoute, body: unknown, { headers = {}, gzip, mark }: Sent = {}) {
    const [method, path] = route.split(' ') as [string, string];
    remember(route);
    const text = `${mark ? '\uFEFF' : ''}${JSON.stringify(body)}`;
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(gzip && { 'content-encoding': 'gzip' }), ...headers },
      ...(method === 'GET' ? {} : { body: gzip ? gzipSync(text) : text }),
    });
    return { status: answer.status, headers: answer.headers, json: (await answer.json()) as any };
  }

  const data = (path: string, body: unknown, sent: Sent = {}) =>
    send(`POST ${path}`, body, { ...sent, headers: { ...bundle.basic(), 'svc-appkey': workspaceId, ...sent.headers } });

  return {
    ...{ send, data, prepare, takeCalled },
    /** The data routes for clients that send Basic credentials alone. */
    bare: (path: string, body: unknown) => send(`POST ${path}`, body, { headers: bundle.basic() }),
    segments: (route: CalledRoute, body?: unknown) =>
      send(route, body, {
        headers: { ...bundle.basic(), 'svc-appkey': workspaceId, 'svc-dbname': bundle.block.dbName! },
      }),
    reading: (path: string, body: unknown) =>
      send(`POST ${path}`, body, { headers: { ...bundle.basic(keys.campaigns), 'svc-appkey': workspaceId } }),
    async form(path: string, fields: Record<string, string>): Promise<any> {
      remember(`POST ${path}`);
      return (await fetch(`${url}${path}`, { method: 'POST', body: new URLSearchParams(fields) })).json();
    },
    async download(path: string, headers: Record<string, string>): Promise<Buffer> {
      remember(`GET ${path}`);
      const answer = await fetch(`${url}${path}`, { headers });
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
      return Buffer.from(await answer.arrayBuffer());
    },
    /** A user with an Android phone. */
    addPhone: (customerId: string, attributes: object = {}): Promise<void> =>
      prepare(async () => {
        const elements = [
          { type: 'customer', customer_id: customerId, attributes },
          {
            ...{ type: 'device', customer_id: customerId, device_id: `phone-of-${customerId}` },
            attributes: { platform: 'ANDROID', push_id: `token-of-${customerId}` },
          },
        ];
        const answer = await data(`/v1/transition/${workspaceId}`, { type: 'transition', elements });
        expect([answer.status, answer.headers.get('x-svc-warning')]).toEqual([200, null]);
      }),
    /** The signature of v2 in the body. */
    signed: (campaignName: string) => ({
      ...{ appId: workspaceId, campaignName },
      signature: signPush({ appId: workspaceId, campaignName, key: keys.push }),
    }),
    /** The headers of v2.1. */
    signedHeaders: (campaignName: string, queryType: string) => ({
      'x-svc-appkey': workspaceId,
      'x-svc-pushapi-signature': signPush({ appId: workspaceId, campaignName, key: keys.push }),
      'x-svc-query-type': queryType,
    }),
  };
}

function makeCalledRoutes(workspaceId: string) {
  const called = new Set<string>();
  let preparing = 0;
  return {
    /** Notes the route without the values of this node. */
    remember(route: CalledRoute): void {
      const [path] = route.split('?') as [string];
      const named = path.replace(/(rest_api\/\w+)\/.*/, '$1/{file_name}').replaceAll(workspaceId, '{app_id}');
      if (preparing === 0) called.add(named.replace(/\b[0-9a-f]{24}\b/g, '{id}'));
    },
    /** For what is there before a client begins: these calls are not those of the client. */
    async prepare<T>(work: () => Promise<T>): Promise<T> {
      preparing += 1;
      try {
        return await work();
      } finally {
        preparing -= 1;
      }
    },
    /** Returns the routes that were called since the last look, and forgets them. */
    takeCalled(): string[] {
      const routes = [...called];
      called.clear();
      return routes;
    },
  };
}

/** What happened: on the phones, and in the database where no route of the clients shows it. */
function makeEffects({ database, inbox }: CarillonBundle) {
  return {
    /** Waits until a phone shows a message with this title. */
    async shows(title: string): Promise<any> {
      let found: any;
      await until(
        async () => (found = (await inbox('?limit=500')).find((message) => JSON.stringify(message).includes(title))),
      );
      return found;
    },
    /** Waits until the statistics count a campaign's messages. */
    async counted(campaignId: string): Promise<void> {
      await until(async () => {
        const [row] = await database`
          select from run_counts join runs on runs.id = run_counts.run_id where runs.campaign_id = ${campaignId}`;
        return row;
      });
    },
    /** Returns the number of users that a campaign was for. */
    async countAudience(campaignId: string): Promise<number> {
      const [row] = await database`
        select sum(audience_users)::int as users from runs where campaign_id = ${campaignId}`;
      return row!.users;
    },
    async attributesOf(customerId: string): Promise<Record<string, unknown>> {
      const [row] = await database`select attributes from users where customer_id = ${customerId}`;
      return row?.attributes as Record<string, unknown>;
    },
    async countUsers(prefix: string): Promise<number> {
      const [row] = await database`
        select count(*)::int as users from users where starts_with(customer_id, ${prefix})`;
      return row!.users;
    },
    async eventsOf(customerId: string): Promise<{ name: string; attributes: any; at: string; platform: string }[]> {
      const rows = await database`
        select name, events.attributes, occurred_at, platform from events join users on users.bucket = events.bucket and users.id = events.user_id
        where users.customer_id = ${customerId} order by name`;
      return rows.map(({ name, attributes, occurred_at: at, platform }) => ({
        ...{ name, attributes, platform },
        at: (at as Date).toISOString(),
      }));
    },
    async countMembers(segmentName: string): Promise<number> {
      const [row] = await database`
        select count(*)::int as members from segment_members join segments on segments.id = segment_members.segment_id
        where segments.name = ${segmentName} and removed_in is null`;
      return row!.members;
    },
  };
}

type Reply = { status: number; json: any };

/** The check that most clients make: the status, and the word in the body. @throws Error with the answer */
export function accept(reply: Reply): any {
  const { status, json } = reply;
  const isRefused = status >= 300 || ['fail', 'Fail', 'FAILURE'].includes(json?.status);
  if (isRefused) throw new Error(`${status} ${JSON.stringify(json)}`);
  return json;
}

export const soon = { type: 'soon' };

/** A push to one user of the data. */
export const toUser = (attributeValue: unknown, attribute = 'USER_ATTRIBUTE_UNIQUE_ID') => ({
  ...{ targetPlatform: ['ANDROID'], targetAudience: 'User', campaignDelivery: soon },
  targetUserAttributes: { attribute, comparisonParameter: 'is', attributeValue },
});
