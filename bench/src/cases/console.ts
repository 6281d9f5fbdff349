import { loadavg } from 'node:os';
import { join } from 'node:path';
import { findRunningPostgres } from '../../../server/src/start/embedded-postgres/embedded-postgres.ts';
import { openDatabase } from '../../../server/src/storage/database.ts';
import type { Database } from '../../../server/src/storage/database.ts';
import { percentile } from '../kit/bench.ts';
import type { Bench, Case } from '../kit/bench.ts';
import { startBenchNode } from '../kit/installation.ts';
import { seedConsole } from './console-seed.ts';

const goalMilliseconds = 300;

type Opened = { url: string; cookie: string; database: Database; requests: ConsoleRequest[] };

/**
 * Whole responses of a node that sends nothing: this measures the lists, not the engine. DATABASE_URL names an empty database to
 * use instead of an embedded one.
 */
export const consoleCase: Case<'console', Opened> = {
  async prepare(bench) {
    const { users, campaigns, ledger: ledgerRows, 'data-dir': kept } = bench.options;
    const folder = kept ?? (await bench.makeFolder());
    const url = process.env.DATABASE_URL;
    const settings = { CARILLON_DATA_DIR: folder, ...(url === undefined ? {} : { DATABASE_URL: url }) };
    const node = await startBenchNode(bench, { parameters: ['--role', 'api'], settings });
    const { workspaceId } = node;
    const running = await findRunningPostgres(join(folder, 'postgres'));
    // The owner's URL, for the vacuum.
    const database = openDatabase({ url: url ?? running!.ownerUrl, connections: 2, name: 'bench' });
    bench.defer(() => database.end());
    // Rounded to an hour, so that a reused folder has the same days.
    const until = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
    const { say } = bench;
    const seeded = await seedConsole(database, { workspaceId, users, campaigns, ledgerRows, until, say });
    const requests = await listConsoleRequests(database, { workspaceId, users, campaigns, ...seeded });
    return { url: node.url, cookie: await signIn(node), database, requests };
  },

  async run(bench, { url, cookie, database, requests }) {
    bench.say(await describeDatabase(database));
    bench.say(`${'answer'.padEnd(46)} asked     p50     p99  (ms)`);
    const over: string[] = [];
    for (const request of requests.filter(({ name }) => name.includes(bench.options.only)))
      if ((await measure(bench, { request, url, cookie })) > goalMilliseconds) over.push(request.name);
    const limit = `${goalMilliseconds} ms`;
    bench.say(over.length === 0 ? `every p99 is below ${limit}` : `over ${limit}: ${over.join(', ')}`);
  },
};

/** Signs in with the start link of a sandbox, which works once. */
async function signIn({ url, console: link }: { url: string; console: string }): Promise<string> {
  const code = new URLSearchParams(new URL(link).hash.slice(1)).get('sign-in');
  const answer = await fetch(`${url}/console/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  if (answer.status !== 204) throw new Error(`the console did not open: ${answer.status}`);
  return answer.headers.get('set-cookie')!.split(';', 1)[0]!;
}

type Measuring = { request: ConsoleRequest; url: string; cookie: string };

/** Follows pages by the previous response's cursor, and starts over without one. @returns p99 */
async function measure(bench: Bench<'console'>, { request, url, cookie }: Measuring): Promise<number> {
  const times: number[] = [];
  let next: string | undefined;
  // The first request of each kind is not measured: it prepares statements and connections.
  for (let look = 0; look <= bench.options.looks; look += 1) {
    const { path, body } = request.ask(look, next);
    const begun = performance.now();
    const answer = await fetch(`${url}/console/api/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const took = performance.now() - begun;
    if (answer.status !== 200) throw new Error(`${request.name}: ${answer.status} ${text}`);
    if (look > 0) times.push(took);
    if (request.isPaged) next = (JSON.parse(text) as { next?: string | null }).next ?? undefined;
  }
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
  const cells = [p50, p99].map((time) => time.toFixed(1).padStart(8)).join('');
  const over = p99 > goalMilliseconds ? '  over' : '';
  bench.say(`${request.name.padEnd(46)} ${String(times.length).padStart(5)}${cells}${over}`);
  return p99;
}

async function describeDatabase(database: Database): Promise<string> {
  const [row] = await database`
    select split_part(version(), ' on ', 1) as version, current_setting('shared_buffers') as buffers,
      (select count(*) from users) as users, (select count(*) from devices) as devices,
      (select count(*) from campaigns) as campaigns, (select count(*) from readable_deliveries as deliveries) as deliveries,
      (select count(*) from events) as events, pg_size_pretty(pg_database_size(current_database())) as size`;
  const { version, buffers, users, devices, campaigns, deliveries, events, size } = row!;
  const load = loadavg().map((one) => one.toFixed(2));
  return (
    `${version}, shared_buffers ${buffers}, database ${size}, load ${load.join(' ')}\n` +
    `${users} people, ${devices} devices, ${campaigns} campaigns, ${deliveries} rows of the ledger, ${events} events`
  );
}

type ConsoleRequest = {
  name: string;
  /** The response has `next`, the cursor of the following page. */
  isPaged?: boolean;
  ask: (look: number, next: string | undefined) => { path: string; body?: unknown };
};

type ConsoleFacts = {
  workspaceId: string;
  users: number;
  campaigns: number;
  segmentId: string;
  bigCampaignId: string;
};

/** Returns each list, search and page of the console, filter by filter, as its pages request them. */
async function listConsoleRequests(database: Database, facts: ConsoleFacts): Promise<ConsoleRequest[]> {
  const [sample] = await database<{ userId: string; small: string }[]>`
    select (select id from users where customer_id = 'user-7') as "userId",
      (select campaign_id from runs where workspace_id = ${facts.workspaceId} order by id limit 1) as small`;
  return [
    ...pages(facts),
    ...campaignSearches(facts),
    ...campaignPages(facts, sample!.small),
    ...users(facts, sample!.userId),
    ...deliveries(facts, sample!.small),
    ...logs(facts),
  ];
}

function asker({ workspaceId }: ConsoleFacts) {
  return (path: string, query: Record<string, string | undefined> = {}): string => {
    const given = Object.entries({ workspaceId, ...query }).filter((pair): pair is [string, string] => !!pair[1]);
    return `${path}?${new URLSearchParams(given)}`;
  };
}

function pages(facts: ConsoleFacts): ConsoleRequest[] {
  const to = asker(facts);
  const plain = (name: string, path: string): ConsoleRequest => ({ name, ask: () => ({ path: to(path) }) });
  return [
    plain('overview', 'overview'),
    plain('inbox', 'inbox'),
    plain('keys', 'keys'),
    plain('settings', 'settings'),
    plain('segments', 'segments'),
    plain('segment', `segments/${facts.segmentId}`),
    plain('segment, its members', `segments/${facts.segmentId}/members`),
    plain('segment, its campaigns', `segments/${facts.segmentId}/campaigns`),
    plain('accounts', 'accounts'),
  ];
}

function campaignSearches(facts: ConsoleFacts): ConsoleRequest[] {
  const { workspaceId, campaigns, bigCampaignId } = facts;
  const day = new Date().toISOString().slice(0, 10);
  const filters: Record<string, Record<string, unknown>> = {
    none: {},
    id: { ids: [bigCampaignId] },
    ongoing: { status: ['SENDING', 'ACTIVE'] },
    'scheduled, none': { status: ['SCHEDULED'] },
    paused: { status: ['PAUSED'] },
    drafts: { status: ['DRAFT'] },
    history: { status: ['SENT', 'RETIRED', 'STOPPED', 'FAILED'] },
    'channel EMAIL': { channels: ['EMAIL'] },
    'type PERIODIC': { campaign_delivery_type: ['PERIODIC'] },
    creator: { created_by: ['person4@example.com'] },
    'creator, nobody': { created_by: ['nobody'] },
    dates: { created_date: { from_date: day, to_date: day } },
    'name, in every seventh': { name: 'SALE' },
    'name, one': { name: `digest ${Math.floor(campaigns / 2)}` },
    'name, in none': { name: 'nothing like it' },
    'tag, in half a percent': { tags: ['team8'] },
    'tag, in nearly all': { tags: ['common'] },
    'name, status, tag': { name: 'sale', status: ['SENT', 'STOPPED'], tags: ['team8'] },
  };
  const search = (name: string, more: Record<string, unknown>): ConsoleRequest => ({
    name: `campaigns, ${name}`,
    ask: (look) => ({
      path: `campaigns/search?workspaceId=${workspaceId}`,
      body: { limit: 15, page: Math.max(1, look), ...more },
    }),
  });
  return [
    ...Object.entries(filters).map(([name, campaign_fields]) => search(name, { campaign_fields })),
    search('archive', { include_archive_campaigns: true, campaign_fields: { status: ['ARCHIVED'] } }),
    search('with children', { include_child_campaigns: true }),
    {
      name: 'campaigns, the last pages',
      ask: (look) => ({
        path: `campaigns/search?workspaceId=${workspaceId}`,
        body: { limit: 15, page: Math.floor(campaigns / 15) - look },
      }),
    },
  ];
}

function campaignPages(facts: ConsoleFacts, small: string): ConsoleRequest[] {
  const to = asker(facts);
  const parts = ['', '/progress', '/results', '/timeline', '/runs'];
  return [
    [facts.bigCampaignId, 'a fifth of the ledger'],
    [small, 'small'],
  ].flatMap(([id, size]) =>
    parts.map((part) => ({
      name: `report${part.replace('/', ', ')} (${size})`,
      ask: () => ({ path: to(`campaigns/${id}${part}`) }),
    })),
  );
}

function users(facts: ConsoleFacts, user: string): ConsoleRequest[] {
  const to = asker(facts);
  const number = (look: number): number => (look * 104_729) % facts.users;
  const search = (name: string, word: (look: number) => string): ConsoleRequest => ({
    name: `people, by ${name}`,
    ask: (look) => ({ path: to('people', { q: word(look) }) }),
  });
  const [big] = [facts.bigCampaignId];
  return [
    search('user id', (look) => `user-${number(look)}`),
    search('device token', (look) => `token-${number(look)}`),
    search('mail address', (look) => `user-${number(look)}@example.com`),
    search('a value of a quarter', () => 'Lisbon'),
    search('a number', (look) => String(look % 50)),
    search('what nobody has', (look) => `nobody ${look}`),
    { name: 'person', ask: () => ({ path: to(`people/${user}`) }) },
    {
      name: 'person, timeline',
      isPaged: true,
      ask: (_look, after) => ({ path: to(`people/${user}/timeline`, { after }) }),
    },
    {
      name: 'person, did they get it',
      ask: (look) => ({ path: to('explain', { campaignId: big, customerId: `user-${number(look)}` }) }),
    },
  ];
}

function deliveries(facts: ConsoleFacts, small: string): ConsoleRequest[] {
  const to = asker(facts);
  const oldest = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10);
  const log = (name: string, filters: Record<string, string>): ConsoleRequest => ({
    name: `deliveries, ${name}`,
    isPaged: true,
    ask: (_look, after) => ({ path: to('deliveries', { ...filters, after }) }),
  });
  const big = facts.bigCampaignId;
  return [
    log('none', {}),
    ...['ACCEPTED', 'WAITING', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD'].map((outcome) =>
      log(outcome, { outcome }),
    ),
    ...['ANDROID', 'IOS', 'WEB'].map((platform) => log(platform, { platform })),
    log('code, common', { code: 'UNREGISTERED' }),
    log('code, rare', { code: 'RARE_CODE' }),
    log('code, none', { code: 'NO_SUCH_CODE' }),
    log('campaign, big', { campaignId: big }),
    log('campaign, small', { campaignId: small }),
    log('campaign and outcome', { campaignId: big, outcome: 'EXPIRED' }),
    log('campaign and code', { campaignId: big, code: 'RARE_CODE' }),
    log('campaign, platform, outcome', { campaignId: big, platform: 'WEB', outcome: 'GONE' }),
    log('person', { customerId: 'user-7' }),
    log('person and outcome', { customerId: 'user-7', outcome: 'FAILED' }),
    log('person and campaign', { customerId: 'user-7', campaignId: big }),
    log('platform and outcome', { platform: 'IOS', outcome: 'REJECTED' }),
    {
      name: 'deliveries, pages of 20 days ago',
      isPaged: true,
      ask: (_look, after) => ({ path: to('deliveries', { after: after ?? oldest }) }),
    },
  ];
}

function logs(facts: ConsoleFacts): ConsoleRequest[] {
  const to = asker(facts);
  const log = (name: string, path: string, filters: Record<string, string> = {}): ConsoleRequest => ({
    name,
    isPaged: true,
    ask: (_look, after) => ({ path: to(path, { ...filters, after }) }),
  });
  return [
    log('calls', 'calls'),
    log('calls, refused', 'calls', { only: 'refused' }),
    log('calls, of nobody', 'calls', { of: 'nobody' }),
    log('callbacks', 'callbacks'),
    log('mails', 'mails'),
    { name: 'audit', ask: () => ({ path: to('audit') }) },
  ];
}
