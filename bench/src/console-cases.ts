import type { Database } from '../../server/src/storage/database.ts';

export type ConsoleCase = {
  name: string;
  /** The response has `next`, the cursor of the following page. */
  isPaged?: boolean;
  ask: (look: number, next: string | undefined) => { path: string; body?: unknown };
};

export type ConsoleFacts = {
  workspaceId: string;
  users: number;
  campaigns: number;
  segmentId: string;
  bigCampaignId: string;
};

/** Returns each list, search and page of the console, filter by filter, as its pages request them. */
export async function listConsoleCases(database: Database, facts: ConsoleFacts): Promise<ConsoleCase[]> {
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

function pages(facts: ConsoleFacts): ConsoleCase[] {
  const to = asker(facts);
  const plain = (name: string, path: string): ConsoleCase => ({ name, ask: () => ({ path: to(path) }) });
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

function campaignSearches(facts: ConsoleFacts): ConsoleCase[] {
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
  const search = (name: string, more: Record<string, unknown>): ConsoleCase => ({
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

function campaignPages(facts: ConsoleFacts, small: string): ConsoleCase[] {
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

function users(facts: ConsoleFacts, user: string): ConsoleCase[] {
  const to = asker(facts);
  const number = (look: number): number => (look * 104_729) % facts.users;
  const search = (name: string, word: (look: number) => string): ConsoleCase => ({
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

function deliveries(facts: ConsoleFacts, small: string): ConsoleCase[] {
  const to = asker(facts);
  const oldest = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10);
  const log = (name: string, filters: Record<string, string>): ConsoleCase => ({
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

function logs(facts: ConsoleFacts): ConsoleCase[] {
  const to = asker(facts);
  const log = (name: string, path: string, filters: Record<string, string> = {}): ConsoleCase => ({
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
