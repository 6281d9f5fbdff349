import { inboxMessages } from '../domain/limits/retention.ts';
import { fileUsersPerDay } from '../domain/limits/segments.ts';
import { lateSendMinutes } from '../domain/limits/campaigns.ts';
import { erasureDelayHours } from '../domain/limits/users.ts';
import { companySettings } from './company-settings.ts';
import { retentionSettings } from './retention-settings.ts';

/** TLS by the node itself, for installations without a reverse proxy. */
const tlsSettings = {
  tlsCert: {
    kind: 'text',
    variable: 'CARILLON_TLS_CERT',
    default: undefined,
    sentence:
      'File (PEM) with the certificate of this server and those between it and its authority: the API and the console are then served by https alone ([TLS](operations.md#tls-by-the-node-itself)). Read again when it changes.',
  },
  tlsKey: {
    kind: 'text',
    variable: 'CARILLON_TLS_KEY',
    default: undefined,
    sentence: 'File (PEM) with the private key of that certificate, without a passphrase.',
  },
} as const;

/** Settings of outgoing calls. */
const outgoingSettings = {
  outgoingProxy: {
    kind: 'secret',
    variable: 'CARILLON_OUTGOING_PROXY',
    default: undefined,
    sentence:
      'Proxy through which providers, callbacks, files and the company account are called, as `http://user:password@proxy.example:3128`, or with https. Asked by CONNECT; `HTTP_PROXY` and its kin are not read.',
  },
  noProxy: {
    kind: 'list',
    variable: 'CARILLON_NO_PROXY',
    default: [],
    sentence:
      'Hosts that are called without the proxy (commas or spaces): a name stands for itself and all below it, with `:port` for that port; `*` for all. This machine never needs it.',
  },
  proxyResolves: {
    kind: 'flag',
    variable: 'CARILLON_PROXY_RESOLVES',
    default: false,
    sentence:
      'Only the proxy can resolve names: what others may name is then judged by its name, not by its address. Push services are allowed, and what `CARILLON_PROXY_HOSTS` lists.',
  },
  proxyHosts: {
    kind: 'list',
    variable: 'CARILLON_PROXY_HOSTS',
    default: [],
    sentence:
      'With `CARILLON_PROXY_RESOLVES`: hosts of callbacks and files (comma-separated, `*.example.com` for all below, `*` for any name with a dot) and of other push services.',
  },
} as const;

/** Access to `GET /metrics`. */
const metricsSettings = {
  metricsPort: {
    kind: 'integer',
    variable: 'CARILLON_METRICS_PORT',
    flag: 'metrics-port',
    minimum: 0,
    maximum: 65_535,
    default: undefined,
    sentence:
      'Port of its own for `GET /metrics`, for the network of the operators; 0 picks a free one. Without it, and without a token, there are no [metrics](metrics.md).',
  },
  metricsHost: {
    kind: 'text',
    variable: 'CARILLON_METRICS_HOST',
    default: undefined,
    sentence: 'Address that port listens on. Default: that of `CARILLON_HOST`.',
  },
  metricsToken: {
    kind: 'secret',
    variable: 'CARILLON_METRICS_TOKEN',
    default: undefined,
    sentence:
      'With it `GET /metrics` is also on the port of the API, for whoever sends `Authorization: Bearer` and this token (at least 16 characters); the port of its own then asks for it too.',
  },
} as const;

/** Automatic backups by a node (docs/backup.md). */
const backupSettings = {
  backupFolder: {
    kind: 'text',
    variable: 'CARILLON_BACKUP_DIR',
    default: undefined,
    sentence:
      'Folder in which the nodes that send make a backup by themselves: of all that share it one, when the newest there is old enough. Without it none is made.',
  },
  backupHours: {
    kind: 'integer',
    variable: 'CARILLON_BACKUP_HOURS',
    minimum: 1,
    maximum: 8_760,
    default: 24,
    unit: 'hours',
    sentence: 'How old the newest backup may be before the next is made.',
  },
  backupsKept: {
    kind: 'integer',
    variable: 'CARILLON_BACKUPS_KEPT',
    minimum: 1,
    maximum: 1_000,
    default: 7,
    unit: 'backups',
    sentence: 'How many of them are kept; older ones are removed when a newer one is whole.',
  },
} as const;

/** The single table of settings. docs/settings.md is generated from it; a test keeps them in sync. */
export const settings = {
  dataFolder: {
    kind: 'text',
    variable: 'CARILLON_DATA_DIR',
    flag: 'data-dir',
    default: undefined,
    sentence:
      'Folder of the embedded database and the generated master key. Default: `data` in the project, and `carillon-data` where it was called of an installed package.',
  },
  host: {
    kind: 'text',
    variable: 'CARILLON_HOST',
    flag: 'host',
    default: '127.0.0.1',
    sentence: 'Address the HTTP server listens on.',
  },
  port: {
    kind: 'integer',
    variable: 'CARILLON_PORT',
    flag: 'port',
    minimum: 0,
    maximum: 65_535,
    default: 8080,
    sentence: 'Port the HTTP server listens on; 0 picks a free one.',
  },
  publicUrl: {
    kind: 'text',
    variable: 'CARILLON_PUBLIC_URL',
    pattern: /^https?:\/\/[^/?#]+$/,
    default: undefined,
    sentence:
      'Origin under which callers reach this service, for all links and commands that it hands out. Default: host and port.',
  },
  ...tlsSettings,
  databaseUrl: {
    kind: 'secret',
    variable: 'DATABASE_URL',
    default: undefined,
    sentence: 'Connection string of a PostgreSQL (15 or newer). Without it an embedded PostgreSQL is started.',
  },
  databaseOwnerUrl: {
    kind: 'secret',
    variable: 'CARILLON_DATABASE_OWNER_URL',
    default: undefined,
    sentence:
      'The same database as the role that owns the tables, for migrations; `DATABASE_URL` is then of a role that owns nothing. For `carillon migrate`; a node that has it migrates when it starts.',
  },
  databasePooler: {
    kind: 'choice',
    variable: 'CARILLON_DATABASE_POOLER',
    choices: ['none', 'transaction'],
    default: 'none',
    sentence:
      '`transaction`: `DATABASE_URL` goes through a pooler that may give each transaction another session, as PgBouncer in that mode.',
  },
  databaseDirectUrl: {
    kind: 'secret',
    variable: 'CARILLON_DATABASE_DIRECT_URL',
    default: undefined,
    sentence:
      'With such a pooler: the database itself, for migrations, the doorbell, imports and segment files, which need a session.',
  },
  databaseStandbyUrl: {
    kind: 'secret',
    variable: 'CARILLON_DATABASE_STANDBY_URL',
    default: undefined,
    sentence:
      'A standby of that database, as the same role: long lists of the console are read there while it keeps up ([a standby](operations.md#lists-from-a-standby)).',
  },
  databaseConnections: {
    kind: 'integer',
    variable: 'CARILLON_DATABASE_CONNECTIONS',
    minimum: 6,
    maximum: 200,
    default: 20,
    unit: 'connections',
    sentence:
      'Most database connections of this process, besides the one of the doorbell. Four tenths are for requests that are bound to one workspace.',
  },
  masterKey: {
    kind: 'bytes32',
    variable: 'CARILLON_MASTER_KEY',
    default: undefined,
    sentence:
      'Key that seals provider credentials and push keys. Generated into the data folder in sandbox mode; required in production.',
  },
  nextMasterKey: {
    kind: 'bytes32',
    variable: 'CARILLON_MASTER_KEY_NEXT',
    default: undefined,
    sentence: 'The key that `carillon master-key rotate` leads to. Every node must know it first.',
  },
  mode: {
    kind: 'choice',
    variable: 'CARILLON_MODE',
    flag: 'mode',
    choices: ['sandbox', 'production'],
    default: 'sandbox',
    sentence:
      'In `sandbox` there are simulators, a movable clock and a demo workspace; `production` refuses all three.',
  },
  role: {
    kind: 'choice',
    variable: 'CARILLON_ROLE',
    flag: 'role',
    choices: ['all', 'api', 'worker'],
    default: 'all',
    sentence: 'What this process does: answer HTTP (`api`), send (`worker`), or both.',
  },
  headerPrefix: {
    kind: 'text',
    variable: 'CARILLON_HEADER_PREFIX',
    pattern: /^[A-Za-z][A-Za-z0-9]{0,15}$/,
    default: 'SVC',
    sentence:
      'Abbreviation in header and attribute names (`X-SVC-APPKEY`, `svc_push_opted`), where `SVC` is accepted as well, and in what apps read of messages (`svc_message_id`, `svc` beside `aps`).',
  },
  serviceDomain: {
    kind: 'text',
    variable: 'CARILLON_SERVICE_DOMAIN',
    pattern: /^[a-z0-9.-]+$/,
    default: undefined,
    sentence:
      'Domain whose hosts `oauth2-{dc}`, `api-{dc}` and `pushapi-{dc}` are bound to data centers. Default: any host is served.',
  },
  trustProxy: {
    kind: 'proxies',
    variable: 'CARILLON_TRUST_PROXY',
    default: false,
    sentence:
      'The proxies in front of this server, whose X-Forwarded-For is believed. Anybody may write that header, so `true` is refused.',
  },
  sandboxAccess: {
    kind: 'choice',
    variable: 'CARILLON_SANDBOX_ACCESS',
    flag: 'sandbox-access',
    choices: ['local', 'network'],
    default: 'local',
    sentence:
      'Who may call the routes of the sandbox, which ask for no credentials: programs on this machine, or with `network` everybody who reaches the port, as a container with a published port needs ([who may call](sandbox.md#access)). Sandbox only.',
  },
  allowedHosts: {
    kind: 'list',
    variable: 'CARILLON_ALLOWED_HOSTS',
    default: [],
    sentence:
      'Host names (comma-separated, `*.example.com` for all below) under which the routes of the sandbox may be called, besides addresses, names without a dot, `.localhost`, `.test` and `.internal`, and the public URL’s. Sandbox only.',
  },
  allowedNetworks: {
    kind: 'list',
    variable: 'CARILLON_ALLOWED_NETWORKS',
    default: [],
    sentence: 'Networks (CIDR, comma-separated) that outgoing calls may reach although they are not public.',
  },
  ...metricsSettings,
  ...outgoingSettings,
  logLevel: {
    kind: 'choice',
    variable: 'CARILLON_LOG_LEVEL',
    flag: 'log-level',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
    default: 'warn',
    sentence: 'Lowest level that is logged. `info` writes one line a call.',
  },
  shutdownDelaySeconds: {
    kind: 'integer',
    variable: 'CARILLON_SHUTDOWN_DELAY_SECONDS',
    minimum: 0,
    maximum: 120,
    default: 0,
    unit: 'seconds',
    sentence: 'How long /readyz fails before the server stops accepting, so that a load balancer notices.',
  },
  workerChunks: {
    kind: 'integer',
    variable: 'CARILLON_WORKER_CHUNKS',
    minimum: 1,
    maximum: 16,
    default: 4,
    unit: 'chunks',
    sentence: 'Chunks of campaigns this process sends side by side. Each has one open window.',
  },
  http2Client: {
    kind: 'choice',
    variable: 'CARILLON_HTTP2',
    choices: ['carillon', 'node'],
    default: 'carillon',
    sentence:
      'Whose HTTP/2 calls the providers: this project’s own client, or with `node` that of Node.js, which sends a few times fewer messages a second of CPU; for when a provider and the first do not get along.',
  },
  windowDevices: {
    kind: 'integer',
    variable: 'CARILLON_WINDOW_DEVICES',
    minimum: 1,
    maximum: 1000,
    default: 250,
    unit: 'devices',
    sentence: 'Devices in one window: what a crash may repeat, per chunk.',
  },
  lateSendMinutes: {
    kind: 'integer',
    variable: 'CARILLON_LATE_SEND_MINUTES',
    minimum: 0,
    maximum: 10_080,
    default: lateSendMinutes,
    unit: 'minutes',
    sentence:
      'A scheduled send found at most this late (after a downtime) is still sent; a later one is recorded as `MISSED`.',
  },
  segmentUsersPerDay: {
    kind: 'integer',
    variable: 'CARILLON_SEGMENT_USERS_PER_DAY',
    minimum: 1,
    maximum: 1_000_000_000,
    default: fileUsersPerDay,
    unit: 'users',
    sentence: 'Most users that files may add to the segments of a workspace in 24 hours.',
  },
  erasureDelayHours: {
    kind: 'integer',
    variable: 'CARILLON_ERASURE_DELAY_HOURS',
    minimum: 0,
    maximum: 720,
    default: erasureDelayHours,
    unit: 'hours',
    sentence: 'How long after `POST /v1/customer/delete` a person is erased; 0 erases at once.',
  },
  smtpUrl: {
    kind: 'secret',
    variable: 'CARILLON_SMTP_URL',
    default: undefined,
    sentence:
      'Mail server for reports, as `smtps://user:password@host:465`. Without it reports are kept and shown in the console.',
  },
  emailFrom: {
    kind: 'text',
    variable: 'CARILLON_MAIL_FROM',
    pattern: /^[^\s@<>]+@[^\s@<>]+$/,
    default: 'carillon@localhost',
    sentence: 'Sender of reports.',
  },
  ...companySettings,
  inboxMessages: {
    kind: 'integer',
    variable: 'CARILLON_INBOX_MESSAGES',
    minimum: 100,
    maximum: 10_000_000,
    default: inboxMessages,
    unit: 'messages',
    sentence: 'Newest messages the sandbox inbox keeps.',
  },
  ...retentionSettings,
  ...backupSettings,
  seed: {
    kind: 'integer',
    variable: 'CARILLON_SEED',
    flag: 'seed',
    minimum: 0,
    maximum: 4_294_967_295,
    default: undefined,
    sentence: 'Makes the ids and keys of the demo workspace repeatable. Sandbox only.',
  },
  json: {
    kind: 'flag',
    variable: 'CARILLON_JSON',
    flag: 'json',
    default: false,
    sentence: 'Print the start block as one JSON line.',
  },
} as const satisfies Record<string, Setting>;

/** The type of a setting's value. `bytes32` is a key of 32 bytes in base64, base64url or hexadecimal. */
type Kind =
  | { kind: 'text'; pattern?: RegExp; default: string | undefined }
  | { kind: 'secret'; default: undefined }
  | { kind: 'bytes32'; default: undefined }
  | { kind: 'integer'; minimum: number; maximum: number; default: number | undefined }
  | { kind: 'choice'; choices: readonly string[]; default: string }
  | { kind: 'list'; default: readonly string[] }
  | { kind: 'proxies'; default: false }
  | { kind: 'flag'; default: boolean };

export type Setting = Kind & {
  /** Environment variable; `<name>_FILE` names a file that contains the value. */
  variable: string;
  /** Command-line flag, if there is one. */
  flag?: string;
  unit?: string;
  sentence: string;
};
