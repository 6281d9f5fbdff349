import { makeAccountCalls } from './accounts.ts';
import { makeAgentCalls } from './agents.ts';
import { makeCampaignCalls } from './campaigns.ts';
import { makeComposerCalls } from './composer.ts';
import { makeConsoleCaller } from './console-caller.ts';
import type { ConsoleCaller, Key } from './console-caller.ts';
import { makeCredentialCalls } from './credentials.ts';
import { makeDeliveryCalls } from './deliveries.ts';
import { makePictureCalls } from './pictures.ts';
import { makeSandboxCalls } from './sandbox.ts';
import { makeSegmentCalls } from './segments.ts';
import { makeUserCalls } from './users.ts';
import type { AlertKind } from './generated/alerts.ts';
import type { KeyKind } from './generated/keys.ts';
import type { WorkspaceSettings } from './generated/settings.ts';
import type { Topic } from './generated/topics.ts';

export type ConsoleClient = ReturnType<typeof makeConsoleClient>;

/**
 * Makes the console's client of its server, by noun. Responses have the types of the routes' shapes (`generated/`).
 * Errors are thrown as CarillonError.
 */
export function makeConsoleClient({ fetch: request = fetch }: { fetch?: typeof fetch } = {}) {
  const caller = makeConsoleCaller(request);
  return {
    accounts: makeAccountCalls(caller),
    agents: makeAgentCalls(caller),
    alerts: makeAlertCalls(caller),
    apps: makeAppCalls(caller),
    calls: makeCallLogCalls(caller),
    campaigns: makeCampaignCalls(caller),
    composer: makeComposerCalls(caller),
    credentials: makeCredentialCalls(caller),
    deliveries: makeDeliveryCalls(caller),
    keys: makeKeyCalls(caller),
    messages: makeMessageCalls(caller),
    overview: makeOverviewCalls(caller),
    pictures: makePictureCalls(caller),
    places: makePlaceCalls(caller),
    sandbox: makeSandboxCalls(caller),
    segments: makeSegmentCalls(caller),
    settings: makeSettingsCalls(caller),
    streams: makeStreamCalls(caller),
    system: makeSystemCalls(caller),
    templates: makeTemplateCalls(caller),
    topics: makeTopicCalls(caller),
    users: makeUserCalls(caller),
    views: makeViewCalls(caller),
  };
}

export type AlertSettingsChange = { webhookUrl: string; emails: string[]; mutedKinds: AlertKind[] };

/** Calls about problems that block delivery, and about the receivers of alerts. */
function makeAlertCalls({ ask }: ConsoleCaller) {
  return {
    /** Newest first, at most 100. */
    list: async (workspaceId: string) => (await ask('GET alerts', { query: { workspaceId } })).alerts,
    readSettings: async (workspaceId: string) =>
      (await ask('GET alerts/settings', { query: { workspaceId } })).settings,
    changeSettings: async ({ workspaceId, ...body }: AlertSettingsChange & { workspaceId: string }) =>
      (await ask('PUT alerts/settings', { query: { workspaceId }, body })).settings,
    /** Sends a test alert to the configured receivers. */
    test: (workspaceId: string) => ask('POST alerts/test', { query: { workspaceId } }),
  };
}

export type CallFilters = {
  /** Only calls without a known workspace. */
  of?: 'nobody';
  only?: 'refused';
  /** The id of a key. */
  key?: string;
  /** `2xx` to `5xx`. */
  status?: string;
  /** Part of the path. */
  path?: string;
  /** Part of the path or of a body. */
  text?: string;
  /** ISO 8601 instants. */
  from?: string;
  before?: string;
  /** The `next` of the previous page. */
  after?: string;
};

/** The log of the API's calls. */
function makeCallLogCalls({ ask }: ConsoleCaller) {
  return {
    /** Newest first. */
    list: (query: CallFilters & { workspaceId: string }) => ask('GET calls', { query }),
    /** @throws CarillonError 404 */
    read: async ({ workspaceId, id }: Key) =>
      (await ask('GET calls/:id', { params: { id }, query: { workspaceId } })).call,
  };
}

/** Event streams, and the batches that their receivers did not accept. */
function makeStreamCalls({ ask }: ConsoleCaller) {
  return {
    list: async (workspaceId: string) => (await ask('GET event-streams', { query: { workspaceId } })).streams,
    /** Newest first; `next` is the `after` of the next page. */
    listDeadBatches: ({ workspaceId, id, after }: Key & { after?: string | undefined }) =>
      ask('GET event-streams/:id/dead-batches', { params: { id }, query: { workspaceId, after } }),
    /** Resends one batch, or all of them. */
    resend: ({ workspaceId, id, batchId }: Key & { batchId?: string | undefined }) =>
      ask('POST event-streams/:id/resend', {
        params: { id },
        query: { workspaceId },
        body: batchId === undefined ? {} : { batchId },
      }),
  };
}

type NewKey = { workspaceId: string; kind: KeyKind; name: string; accessTokenMinutes?: number };

function makeKeyCalls({ ask }: ConsoleCaller) {
  return {
    /** Newest first. */
    list: async (workspaceId: string) => (await ask('GET keys', { query: { workspaceId } })).keys,
    create: ({ workspaceId, ...key }: NewKey) => ask('POST keys', { query: { workspaceId }, body: key }),
    /** Creates a successor. The old key stays valid for 0 to 720 hours. */
    rotate: ({ workspaceId, id, overlapHours }: Key & { overlapHours: number }) =>
      ask('POST keys/:id/rotate', { params: { id }, query: { workspaceId }, body: { overlapHours } }),
    /** Revokes the key permanently and at once. */
    revoke: ({ workspaceId, id }: Key) => ask('POST keys/:id/revoke', { params: { id }, query: { workspaceId } }),
    /** Returns the secret that signs the workspace's callbacks. The first call creates it. */
    readWebhookSecret: async (workspaceId: string) =>
      (await ask('GET webhook-secret', { query: { workspaceId } })).secret,
  };
}

export type AppAccessChange = { workspaceId: string; webOrigins: string[]; attributes: string[] };
type NewIdentityKey = { workspaceId: string; algorithm: 'HS256' | 'ES256'; publicKey?: string };

/** What apps may do with their public key, and the installations that registered themselves. */
function makeAppCalls({ ask }: ConsoleCaller) {
  return {
    readAccess: (workspaceId: string) => ask('GET app-access', { query: { workspaceId } }),
    changeAccess: ({ workspaceId, ...body }: AppAccessChange) =>
      ask('PUT app-access', { query: { workspaceId }, body }),
    /** Adds a key that verifies identity tokens. The secret of HS256 is returned only here. */
    addIdentityKey: ({ workspaceId, ...body }: NewIdentityKey) =>
      ask('POST app-access/identity-keys', { query: { workspaceId }, body }),
    removeIdentityKey: ({ workspaceId, id }: Key) =>
      ask('DELETE app-access/identity-keys/:id', { params: { id }, query: { workspaceId } }),
    /** The newest, at most 50. */
    listInstallations: async (workspaceId: string) =>
      (await ask('GET installations', { query: { workspaceId } })).installations,
  };
}

export type MessageQuery = {
  workspaceId: string;
  /** Only messages that were not delivered. */
  only?: 'failed';
  /** Only messages about this segment's files. */
  segmentId?: string;
  after?: string;
};

/** Callbacks and emails, newest first; `next` is the `after` of the next page. */
function makeMessageCalls({ ask }: ConsoleCaller) {
  const of = ({ workspaceId, id }: Key) => ({ params: { id }, query: { workspaceId } });
  return {
    listCallbacks: (query: MessageQuery) => ask('GET callbacks', { query }),
    readCallback: async (key: Key) => (await ask('GET callbacks/:id', of(key))).callback,
    /** Resends a callback that has ended. */
    resendCallback: async (key: Key) => (await ask('POST callbacks/:id/resend', of(key))).callback,
    listEmails: (query: MessageQuery) => ask('GET mails', { query }),
    readEmail: async (key: Key) => (await ask('GET mails/:id', of(key))).email,
    /** Resends an email that has ended. */
    resendEmail: async (key: Key) => (await ask('POST mails/:id/resend', of(key))).email,
  };
}

function makeOverviewCalls({ ask }: ConsoleCaller) {
  return {
    /** Returns the state of a workspace and its sends. */
    read: (workspaceId: string) => ask('GET overview', { query: { workspaceId } }),
    /** Reads every device, so call it rarely. */
    countUsers: (workspaceId: string) => ask('GET overview/people', { query: { workspaceId } }),
    /** Returns what the sends of the last seven days achieved. */
    readWeek: (workspaceId: string) => ask('GET overview/week', { query: { workspaceId } }),
    /** Returns which of the first steps are done. */
    readFirstSteps: (workspaceId: string) => ask('GET overview/first-steps', { query: { workspaceId } }),
    /** Newest first, newer than `after`. */
    readInbox: async (query: { workspaceId: string; after?: string }) => (await ask('GET inbox', { query })).messages,
  };
}

function makePlaceCalls({ ask }: ConsoleCaller) {
  return {
    /** Finds objects by an id or part of a name. */
    find: async ({ signal, ...query }: { workspaceId: string; q: string; signal?: AbortSignal }) =>
      (await ask('GET places', { query, signal })).places,
  };
}

function makeSettingsCalls({ ask }: ConsoleCaller) {
  return {
    readFixed: (workspaceId: string) => ask('GET settings/fixed', { query: { workspaceId } }),
    read: async (workspaceId: string) => (await ask('GET settings', { query: { workspaceId } })).settings,
    /** @throws CarillonError 400 with the accepted values */
    change: async ({ workspaceId, ...settings }: WorkspaceSettings & { workspaceId: string }) =>
      (await ask('PUT settings', { query: { workspaceId }, body: settings })).settings,
  };
}

export type MetricSpan = 'hour' | 'day' | 'week';

function makeSystemCalls({ ask }: ConsoleCaller) {
  return {
    read: (workspaceId: string) => ask('GET system', { query: { workspaceId } }),
    /** Returns the counters of all nodes of the installation. */
    readMetrics: (query: { workspaceId: string; span: MetricSpan }) => ask('GET metrics', { query }),
  };
}

type Named = Key & { name: string };

function makeTemplateCalls({ ask }: ConsoleCaller) {
  const of = ({ workspaceId, id }: Key) => ({ params: { id }, query: { workspaceId } });
  return {
    /** By name. */
    list: async (workspaceId: string) => (await ask('GET templates', { query: { workspaceId } })).templates,
    /** Stores a template from the campaign with that id. */
    create: ({ name, ...campaign }: Named) => ask('POST campaigns/:id/template', { ...of(campaign), body: { name } }),
    rename: ({ name, ...key }: Named) => ask('PATCH templates/:id', { ...of(key), body: { name } }),
    remove: (key: Key) => ask('DELETE templates/:id', of(key)),
    /** Creates a draft from the template. */
    use: (key: Key) => ask('POST templates/:id/use', of(key)),
  };
}

type TopicKey = { workspaceId: string; key: string };
type TopicTexts = Pick<Topic, 'name' | 'description' | 'position'>;

function makeTopicCalls({ ask }: ConsoleCaller) {
  const of = ({ workspaceId, key }: TopicKey) => ({ params: { key }, query: { workspaceId } });
  return {
    /** By position and key. */
    list: async (workspaceId: string) => (await ask('GET topics', { query: { workspaceId } })).topics,
    add: ({ workspaceId, ...body }: TopicKey & TopicTexts & Pick<Topic, 'isInByDefault'>) =>
      ask('POST topics', { query: { workspaceId }, body }),
    change: ({ workspaceId, key, ...body }: TopicKey & TopicTexts) =>
      ask('PATCH topics/:key', { ...of({ workspaceId, key }), body }),
    /** @throws CarillonError 409 if a campaign needs it */
    remove: (topic: TopicKey) => ask('DELETE topics/:key', of(topic)),
  };
}

/** Lists with saved searches. */
export type ViewedScreen = 'campaigns' | 'segments' | 'deliveries' | 'calls' | 'audit';

type OfScreen = { workspaceId: string; screen: ViewedScreen };

/** Searches that the signed-in user has saved under a name. */
function makeViewCalls({ ask }: ConsoleCaller) {
  const of = ({ workspaceId, screen }: OfScreen) => ({ params: { screen }, query: { workspaceId } });
  return {
    /** By name. */
    list: async (screen: OfScreen) => (await ask('GET views/:screen', of(screen))).views,
    /** Replaces a view of the same name. */
    save: ({ name, search, ...screen }: OfScreen & { name: string; search: string }) =>
      ask('POST views/:screen', { ...of(screen), body: { name, search } }),
    remove: ({ id, ...screen }: OfScreen & { id: string }) =>
      ask('DELETE views/:screen/:id', {
        params: { screen: screen.screen, id },
        query: { workspaceId: screen.workspaceId },
      }),
  };
}
