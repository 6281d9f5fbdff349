import { inboxMessages } from '../domain/limits/retention.ts';
import { fileUsersPerDay } from '../domain/limits/segments.ts';
import { lateSendMinutes } from '../domain/limits/campaigns.ts';
import { erasureDelayHours } from '../domain/limits/users.ts';
import { companySettings } from './company-settings.ts';
import { pictureSettings } from './picture-settings.ts';
import { retentionSettings } from './retention-settings.ts';

/** TLS by the node itself, for installations without a reverse proxy. */
const tlsSettings = {
  tlsCert: {
    kind: 'text',
    variable: 'CARILLON_TLS_CERT',
    default: undefined,
    sentence:
      'File (PEM) with the certificate of this server and its intermediate certificates. The API and the console are then served only by https ([TLS](operations.md#tls-by-the-node-itself)). Reloaded when it changes.',
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
      'Proxy for calls to providers, callbacks, files and the OpenID issuer, such as `http://user:password@proxy.example:3128`, or with https. It must support CONNECT. `HTTP_PROXY` and similar variables are not read.',
  },
  noProxy: {
    kind: 'list',
    variable: 'CARILLON_NO_PROXY',
    default: [],
    sentence:
      'Hosts that are called without the proxy (separated by commas or spaces): a name includes all names below it, `:port` limits it to that port, `*` means all. Calls to this machine never use the proxy.',
  },
  proxyResolves: {
    kind: 'flag',
    variable: 'CARILLON_PROXY_RESOLVES',
    default: false,
    sentence:
      'Only the proxy can resolve names: addresses that callers choose are then checked by name, not by IP address. Push services and the hosts in `CARILLON_PROXY_HOSTS` are allowed.',
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
      'Separate port for `GET /metrics`, for the operators’ network; 0 picks a free one. Without it, and without a token, there are no [metrics](metrics.md).',
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
      'Token (at least 16 characters) with which `GET /metrics` is also available on the port of the API, by `Authorization: Bearer`. The separate port then also requires it.',
  },
} as const;

/** Automatic backups by a node (docs/backup.md). */
const backupSettings = {
  backupFolder: {
    kind: 'text',
    variable: 'CARILLON_BACKUP_DIR',
    default: undefined,
    sentence:
      'Folder for automatic backups by sending nodes. If several nodes share it, one of them makes each backup. Without it there are no automatic backups.',
  },
  backupHours: {
    kind: 'integer',
    variable: 'CARILLON_BACKUP_HOURS',
    minimum: 1,
    maximum: 8_760,
    default: 24,
    unit: 'hours',
    sentence: 'Age of the newest backup at which the next one is made.',
  },
  backupsKept: {
    kind: 'integer',
    variable: 'CARILLON_BACKUPS_KEPT',
    minimum: 1,
    maximum: 1_000,
    default: 7,
    unit: 'backups',
    sentence: 'Number of backups to keep; older ones are removed once a newer one is complete.',
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
      'Folder of the embedded database and the generated master key. Default: `data` in the project; with the installed package, `carillon-data` in the current folder.',
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
    sentence: 'Origin under which callers reach this service, used in all links and commands. Default: host and port.',
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
      'The same database as the role that owns the tables, for migrations; `DATABASE_URL` then uses a role that owns nothing. `carillon migrate` uses it; a node with it migrates when it starts.',
  },
  databasePooler: {
    kind: 'choice',
    variable: 'CARILLON_DATABASE_POOLER',
    choices: ['none', 'transaction'],
    default: 'none',
    sentence:
      '`transaction`: `DATABASE_URL` goes through a pooler that may run each transaction in another session, like PgBouncer in that mode.',
  },
  databaseDirectUrl: {
    kind: 'secret',
    variable: 'CARILLON_DATABASE_DIRECT_URL',
    default: undefined,
    sentence:
      'With such a pooler: the direct address of the database, for migrations, the doorbell, imports and segment files, which need a session.',
  },
  databaseStandbyUrl: {
    kind: 'secret',
    variable: 'CARILLON_DATABASE_STANDBY_URL',
    default: undefined,
    sentence:
      'A standby of that database, with the same role. The console reads long lists from it while it keeps up ([a standby](operations.md#lists-from-a-standby)).',
  },
  databaseConnections: {
    kind: 'integer',
    variable: 'CARILLON_DATABASE_CONNECTIONS',
    minimum: 6,
    maximum: 200,
    default: 20,
    unit: 'connections',
    sentence:
      'Maximum number of database connections of this process, not counting the doorbell’s. 40 % are reserved for requests of a single workspace.',
  },
  masterKey: {
    kind: 'bytes32',
    variable: 'CARILLON_MASTER_KEY',
    default: undefined,
    sentence:
      'Key that encrypts provider credentials and push keys. Generated into the data folder in sandbox mode; required in production.',
  },
  nextMasterKey: {
    kind: 'bytes32',
    variable: 'CARILLON_MASTER_KEY_NEXT',
    default: undefined,
    sentence: 'The new key for `carillon master-key rotate`. Every node must know it first.',
  },
  mode: {
    kind: 'choice',
    variable: 'CARILLON_MODE',
    flag: 'mode',
    choices: ['sandbox', 'production'],
    default: 'sandbox',
    sentence: '`sandbox` has simulators, a movable clock and a demo workspace; `production` has none of them.',
  },
  role: {
    kind: 'choice',
    variable: 'CARILLON_ROLE',
    flag: 'role',
    choices: ['all', 'api', 'worker'],
    default: 'all',
    sentence: 'Task of this process: serve HTTP (`api`), send (`worker`), or both.',
  },
  mcp: {
    kind: 'choice',
    variable: 'CARILLON_MCP',
    choices: ['on', 'off'],
    default: 'on',
    sentence:
      '`off`: `/mcp`, where [agents](mcp.md) read with the rights of an account, does not exist. With `on` each call needs a token that an operator created.',
  },
  headerPrefix: {
    kind: 'text',
    variable: 'CARILLON_HEADER_PREFIX',
    pattern: /^[A-Za-z][A-Za-z0-9]{0,15}$/,
    default: 'SVC',
    sentence:
      'Abbreviation in header and attribute names (`X-SVC-APPKEY`, `svc_push_opted`), where `SVC` is also accepted, and in the keys of messages (`svc_message_id`, `svc` next to `aps`).',
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
      'The trusted proxies in front of this server, which set X-Forwarded-For. `true` is rejected, because any caller can write that header.',
  },
  sandboxAccess: {
    kind: 'choice',
    variable: 'CARILLON_SANDBOX_ACCESS',
    flag: 'sandbox-access',
    choices: ['local', 'network'],
    default: 'local',
    sentence:
      'Callers that the sandbox routes accept without credentials: programs on this machine, or with `network` every caller that reaches the port, which a container with a published port needs ([access](sandbox.md#access)). Sandbox only.',
  },
  allowedHosts: {
    kind: 'list',
    variable: 'CARILLON_ALLOWED_HOSTS',
    default: [],
    sentence:
      'Additional host names (comma-separated, `*.example.com` for all names below) under which the sandbox routes can be called. Addresses, names without a dot, `.localhost`, `.test`, `.internal` and the host of the public URL are always allowed. Sandbox only.',
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
    sentence: 'Lowest level that is logged. `info` writes one line per call.',
  },
  shutdownDelaySeconds: {
    kind: 'integer',
    variable: 'CARILLON_SHUTDOWN_DELAY_SECONDS',
    minimum: 0,
    maximum: 120,
    default: 0,
    unit: 'seconds',
    sentence:
      'Time during which /readyz fails before the server stops accepting connections, so that load balancers notice.',
  },
  workerChunks: {
    kind: 'integer',
    variable: 'CARILLON_WORKER_CHUNKS',
    minimum: 1,
    maximum: 16,
    default: 4,
    unit: 'chunks',
    sentence: 'Chunks of campaigns that this process sends concurrently. Each has one open window.',
  },
  workspacePercent: {
    kind: 'integer',
    variable: 'CARILLON_WORKSPACE_PERCENT',
    minimum: 1,
    maximum: 100,
    default: 100,
    unit: 'percent',
    sentence:
      'Largest part of these chunks that one workspace and its test workspace may send at the same time, at least one chunk. The rest stays free for other workspaces.',
  },
  http2Client: {
    kind: 'choice',
    variable: 'CARILLON_HTTP2',
    choices: ['carillon', 'node'],
    default: 'carillon',
    sentence:
      'HTTP/2 client for the providers: Carillon’s, or with `node` that of Node.js, which sends several times fewer messages per second of CPU. Use it if a provider has problems with the first.',
  },
  windowDevices: {
    kind: 'integer',
    variable: 'CARILLON_WINDOW_DEVICES',
    minimum: 1,
    maximum: 1000,
    default: 250,
    unit: 'devices',
    sentence: 'Devices in one window, which a crash may send to again, per chunk.',
  },
  lateSendMinutes: {
    kind: 'integer',
    variable: 'CARILLON_LATE_SEND_MINUTES',
    minimum: 0,
    maximum: 10_080,
    default: lateSendMinutes,
    unit: 'minutes',
    sentence:
      'A scheduled campaign that is at most this late (after a downtime) is still sent; a later one is recorded as `MISSED`.',
  },
  segmentUsersPerDay: {
    kind: 'integer',
    variable: 'CARILLON_SEGMENT_USERS_PER_DAY',
    minimum: 1,
    maximum: 1_000_000_000,
    default: fileUsersPerDay,
    unit: 'users',
    sentence: 'Maximum number of users that files can add to the segments of a workspace in 24 hours.',
  },
  erasureDelayHours: {
    kind: 'integer',
    variable: 'CARILLON_ERASURE_DELAY_HOURS',
    minimum: 0,
    maximum: 720,
    default: erasureDelayHours,
    unit: 'hours',
    sentence: 'Delay after `POST /v1/customer/delete` until the user is erased; 0 erases immediately.',
  },
  smtpUrl: {
    kind: 'secret',
    variable: 'CARILLON_SMTP_URL',
    default: undefined,
    sentence:
      'Mail server for emails, such as `smtps://user:password@host:465`. Without it, the console shows the emails.',
  },
  emailFrom: {
    kind: 'text',
    variable: 'CARILLON_MAIL_FROM',
    pattern: /^[^\s@<>]+@[^\s@<>]+$/,
    default: 'carillon@localhost',
    sentence: 'Sender of emails.',
  },
  ...companySettings,
  inboxMessages: {
    kind: 'integer',
    variable: 'CARILLON_INBOX_MESSAGES',
    minimum: 100,
    maximum: 10_000_000,
    default: inboxMessages,
    unit: 'messages',
    sentence: 'Number of newest messages that the sandbox inbox keeps.',
  },
  ...pictureSettings,
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
