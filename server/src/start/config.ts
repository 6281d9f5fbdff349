import { readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { isSea } from 'node:sea';
import { isSharedIssuer, parseGroupRole } from '../domain/access/company-accounts.ts';
import type { GroupRole } from '../domain/access/company-accounts.ts';
import type { PhoneDefaults } from '../domain/content/content.ts';
import type { RetentionDays } from '../domain/operations/retention.ts';
import { parseProxyNetwork } from '../http/server/call-origin.ts';
import type { TrustedProxies } from '../http/server/call-origin.ts';
import { parseProxySettings, ProxySettingsError } from '../outgoing/proxy.ts';
import type { ProxySettings } from '../outgoing/proxy.ts';
import { findSslFault } from '../storage/postgres/ssl-mode.ts';
import { settings } from './settings-table.ts';
import type { Setting } from './settings-table.ts';

type Settings = typeof settings;
type ValueOf<S extends Setting> = S extends { kind: 'integer' }
  ? S['default'] extends number
    ? number
    : number | undefined
  : S extends { kind: 'flag' }
    ? boolean
    : S extends { kind: 'list' }
      ? readonly string[]
      : S extends { kind: 'proxies' }
        ? TrustedProxies
        : S extends { kind: 'bytes32' }
          ? Buffer | undefined
          : S extends { kind: 'choice'; choices: readonly (infer C)[] }
            ? C
            : S['default'] extends string
              ? string
              : string | undefined;

export type Config = { [Name in keyof Settings]: ValueOf<Settings[Name]> };

/** Raised for an unusable setting; the message names it and the values it accepts. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The variables that `carillon status --env` prints. A shell that has read them may also start a node. */
export const printedVariables = [
  'CARILLON_API_URL',
  'CARILLON_WORKSPACE_ID',
  'CARILLON_WORKSPACE_DB_NAME',
  'CARILLON_OAUTH_KEY',
  'CARILLON_DATA_KEY',
  'CARILLON_PUSH_KEY',
  'CARILLON_CAMPAIGNS_KEY',
] as const;

/** Read by `carillon mcp` alone; a shell that has it may also run other commands. */
const agentTokenVariable = 'CARILLON_AGENT_TOKEN';

/** Returns the token with which `carillon mcp` calls a node. */
export function readAgentToken(): string | undefined {
  return process.env[agentTokenVariable] || undefined;
}

/**
 * Returns the printed variables from the environment, for a command that calls a server. They are not settings, and each may be
 * missing.
 */
export function readPrintedVariables(): Partial<Record<(typeof printedVariables)[number], string>> {
  return Object.fromEntries(printedVariables.map((name) => [name, process.env[name] || undefined]));
}

export type ConfigSources = { environment: Record<string, string | undefined>; arguments: string[] };

/**
 * Reads every setting once: flags before environment, and `<NAME>_FILE` for secrets in files. Rejects unknown `CARILLON_`
 * variables and flags by name, so that a misspelt one is noticed.
 *
 * @throws ConfigError
 */
export function readConfig(sources: ConfigSources): Config {
  const flags = parseFlags(sources.arguments);
  const names = Object.values(settings).flatMap(({ variable }) => [variable, `${variable}_FILE`]);
  const known = new Set<string>([...names, ...printedVariables, agentTokenVariable]);
  for (const variable of Object.keys(sources.environment)) {
    if (variable.startsWith('CARILLON_') && !known.has(variable)) {
      throw new ConfigError(`${variable} is not a setting; docs/settings.md lists them all.`);
    }
  }
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings) as [string, Setting][]) {
    const given = (setting.flag && flags.get(setting.flag)) ?? fromEnvironment(setting.variable, sources.environment);
    values[name] = given === undefined ? setting.default : parseValue(setting, given);
  }
  const config = values as Config;
  requireTogether(config);
  return config;
}

// Attempts are not rate-limited, so the token must be long.
const minMetricsTokenCharacters = 16;

/** Validates settings that depend on each other. @throws ConfigError */
function requireTogether(config: Config): void {
  requireCompanyAccount(config);
  if (config.nextMasterKey && config.masterKey?.equals(config.nextMasterKey))
    throw new ConfigError('CARILLON_MASTER_KEY_NEXT must be another key than CARILLON_MASTER_KEY.');
  if (config.mode === 'production' && config.allowedHosts.length > 0)
    throw new ConfigError('CARILLON_ALLOWED_HOSTS is for the routes of the sandbox, which production does not have.');
  if (config.mode === 'production' && config.sandboxAccess !== 'local')
    throw new ConfigError('CARILLON_SANDBOX_ACCESS is for the routes of the sandbox, which production does not have.');
  if (config.databaseOwnerUrl !== undefined && config.databaseUrl === undefined)
    throw new ConfigError('CARILLON_DATABASE_OWNER_URL needs DATABASE_URL.');
  if (config.databaseStandbyUrl !== undefined && config.databaseUrl === undefined)
    throw new ConfigError('CARILLON_DATABASE_STANDBY_URL needs DATABASE_URL.');
  if (config.keepRunsDays < config.keepLedgerDays)
    throw new ConfigError(
      'CARILLON_KEEP_RUNS_DAYS must be at least CARILLON_KEEP_LEDGER_DAYS: rows of the ledger belong to runs.',
    );
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined))
    throw new ConfigError('CARILLON_TLS_CERT and CARILLON_TLS_KEY are given together.');
  const s3Names = ['pictureS3Url', 'pictureS3KeyId', 'pictureS3Secret'] as const;
  if (s3Names.some((name) => config[name] === undefined) && s3Names.some((name) => config[name] !== undefined))
    throw new ConfigError(`${s3Names.map((name) => settings[name].variable).join(', ')} are given together.`);
  if (config.metricsHost !== undefined && config.metricsPort === undefined)
    throw new ConfigError('CARILLON_METRICS_HOST needs CARILLON_METRICS_PORT.');
  if (config.metricsToken !== undefined && config.metricsToken.length < minMetricsTokenCharacters)
    throw new ConfigError(`CARILLON_METRICS_TOKEN takes at least ${minMetricsTokenCharacters} characters.`);
  proxySettingsOf(config);
  for (const name of ['databaseUrl', 'databaseOwnerUrl', 'databaseDirectUrl', 'databaseStandbyUrl'] as const) {
    const fault = findSslFault(config[name] ?? '');
    if (fault !== undefined) throw new ConfigError(`${settings[name].variable} ${fault}.`);
  }
  const isPooled = config.databasePooler === 'transaction';
  if (isPooled && (config.databaseUrl === undefined || config.databaseDirectUrl === undefined))
    throw new ConfigError('CARILLON_DATABASE_POOLER=transaction needs DATABASE_URL and CARILLON_DATABASE_DIRECT_URL.');
  if (!isPooled && config.databaseDirectUrl !== undefined)
    throw new ConfigError('CARILLON_DATABASE_DIRECT_URL needs CARILLON_DATABASE_POOLER=transaction.');
}

/** Validates the settings for sign-in with a company account. @throws ConfigError */
function requireCompanyAccount(config: Config): void {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcFirstRole, oidcDomains, passwordSignIn, oidcEmailTrust } =
    config;
  if (oidcIssuer !== undefined && (oidcClientId === undefined || oidcClientSecret === undefined))
    throw new ConfigError('CARILLON_OIDC_ISSUER needs CARILLON_OIDC_CLIENT_ID and CARILLON_OIDC_CLIENT_SECRET.');
  // Everyone can have an account with a public issuer.
  if (oidcFirstRole !== 'none' && oidcDomains.length === 0)
    throw new ConfigError('CARILLON_OIDC_FIRST_ROLE needs CARILLON_OIDC_DOMAINS.');
  if (passwordSignIn === 'owners' && oidcIssuer === undefined)
    throw new ConfigError(
      'CARILLON_PASSWORD_SIGN_IN=owners needs CARILLON_OIDC_ISSUER; otherwise only owners could sign in.',
    );
  if (groupRolesOf(config).length > 0 && oidcIssuer === undefined)
    throw new ConfigError('CARILLON_OIDC_GROUP_ROLES needs CARILLON_OIDC_ISSUER.');
  if (oidcEmailTrust === 'verified') return;
  const trust = `CARILLON_OIDC_EMAIL_TRUST=${oidcEmailTrust}`;
  if (oidcIssuer === undefined) throw new ConfigError(`${trust} needs CARILLON_OIDC_ISSUER.`);
  if (oidcDomains.length === 0)
    throw new ConfigError(`${trust} needs CARILLON_OIDC_DOMAINS, the domains of the company.`);
  if (isSharedIssuer(oidcIssuer))
    throw new ConfigError(
      `${trust} needs the issuer of one tenant, such as https://login.microsoftonline.com/<tenant id>/v2.0: at CARILLON_OIDC_ISSUER anyone can create an account with any address.`,
    );
}

/** Returns true if callers reach the node by https: its own, or that of a proxy in front of it. */
export function isServedByHttps({ publicUrl, tlsCert }: Pick<Config, 'publicUrl' | 'tlsCert'>): boolean {
  return publicUrl?.startsWith('https:') ?? tlsCert !== undefined;
}

/** Returns the roles that groups of the company give. @throws ConfigError */
export function groupRolesOf({ oidcGroupRoles }: Pick<Config, 'oidcGroupRoles'>): GroupRole[] {
  return oidcGroupRoles.map((text) => {
    const parsed = parseGroupRole(text);
    if ('fault' in parsed) throw new ConfigError(`CARILLON_OIDC_GROUP_ROLES: ${parsed.fault}`);
    return parsed;
  });
}

/** Returns the settings of the outgoing proxy, or undefined if none is set. @throws ConfigError */
export function proxySettingsOf(config: Config): ProxySettings | undefined {
  const { outgoingProxy: url, noProxy, proxyResolves: resolvesNames, proxyHosts: hosts } = config;
  if (hosts.length > 0 && !resolvesNames) throw new ConfigError('CARILLON_PROXY_HOSTS needs CARILLON_PROXY_RESOLVES.');
  if (url === undefined) {
    if (noProxy.length > 0 || resolvesNames)
      throw new ConfigError('CARILLON_NO_PROXY and CARILLON_PROXY_RESOLVES need CARILLON_OUTGOING_PROXY.');
    return undefined;
  }
  try {
    return parseProxySettings({ url, noProxy, resolvesNames, hosts });
  } catch (error) {
    if (!(error instanceof ProxySettingsError)) throw error;
    throw new ConfigError(`${settings.outgoingProxy.variable} takes ${error.message}, not (hidden).`);
  }
}

/** Returns the retention in days per kind of record. */
export function retentionOf(config: Config): RetentionDays {
  return {
    ledger: config.keepLedgerDays,
    events: config.keepEventsDays,
    runs: config.keepRunsDays,
    interactions: config.keepInteractionsDays,
    pushRequests: config.keepPushRequestsDays,
    messages: config.keepMessagesDays,
    operations: config.keepOperationsDays,
    audit: config.keepAuditDays,
    apiLog: config.keepApiLogDays,
  };
}

/** Reads the settings of this process. Its variables and arguments are read only here. */
export function readProcessConfig(): Config {
  ensureHome(process.env);
  return readConfig({ environment: process.env, arguments: process.argv.slice(2) });
}

/** Returns true if OpenTelemetry's own variables enable traces: they name an endpoint, and no variable disables them. */
export function isTracingAsked(environment: Record<string, string | undefined> = process.env): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = environment;
  if (!all && !traces) return false;
  return environment['OTEL_SDK_DISABLED']?.toLowerCase() !== 'true' && environment['OTEL_TRACES_EXPORTER'] !== 'none';
}

/**
 * Returns the variable names of settings that differ from their defaults. Names only, because the report leaves the machine.
 */
export function listChangedSettings(config: Config): string[] {
  return (Object.entries(settings) as [keyof Config, Setting][])
    .filter(([name, setting]) => String(config[name] ?? '') !== String(setting.default ?? ''))
    .map(([, { variable }]) => variable);
}

function parseFlags(parameters: string[]): Map<string, string> {
  const byFlag = new Map(
    (Object.values(settings) as Setting[]).flatMap((setting) =>
      setting.flag ? [[setting.flag, setting] as const] : [],
    ),
  );
  const found = new Map<string, string>();
  for (let index = 0; index < parameters.length; index += 1) {
    const parameter = parameters[index]!;
    if (parameter === '--production') {
      found.set('mode', 'production');
      continue;
    }
    const [name, inline] = parameter.replace(/^--/, '').split(/=(.*)/s, 2) as [string, string | undefined];
    const setting = parameter.startsWith('--') ? byFlag.get(name) : undefined;
    if (!setting)
      throw new ConfigError(
        `${parameter} is not an option; the options are --production, ${[...byFlag.keys()].map((flag) => `--${flag}`).join(', ')}.`,
      );
    if (setting.kind === 'flag') found.set(name, inline ?? 'true');
    else {
      const value = inline ?? parameters[(index += 1)];
      if (value === undefined) throw new ConfigError(`--${name} needs a value.`);
      found.set(name, value);
    }
  }
  return found;
}

function fromEnvironment(variable: string, environment: Record<string, string | undefined>): string | undefined {
  const value = environment[variable];
  const file = environment[`${variable}_FILE`];
  if (file === undefined || file === '') return value === '' ? undefined : value;
  if (value !== undefined && value !== '') throw new ConfigError(`Set ${variable} or ${variable}_FILE, not both.`);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new ConfigError(`${variable}_FILE: ${file} cannot be read.`);
  }
}

function parseValue(setting: Setting, given: string): unknown {
  const refuse = (expected: string): never => {
    const shown = setting.kind === 'secret' || setting.kind === 'bytes32' ? '(hidden)' : JSON.stringify(given);
    throw new ConfigError(`${setting.variable} takes ${expected}, not ${shown}.`);
  };
  switch (setting.kind) {
    case 'text':
      return setting.pattern && !setting.pattern.test(given) ? refuse(`text like ${setting.pattern.source}`) : given;
    case 'secret':
      return given;
    case 'bytes32': {
      const bytes = /^[0-9a-fA-F]{64}$/.test(given) ? Buffer.from(given, 'hex') : Buffer.from(given, 'base64');
      return bytes.length === 32 ? bytes : refuse('32 bytes in hexadecimal or base64');
    }
    case 'integer': {
      const value = /^-?\d{1,15}$/.test(given) ? Number(given) : NaN;
      if (!(value >= setting.minimum && value <= setting.maximum)) {
        return refuse(
          `a whole number from ${setting.minimum} to ${setting.maximum}${setting.unit ? ` (${setting.unit})` : ''}`,
        );
      }
      return value;
    }
    case 'choice':
      return setting.choices.includes(given) ? given : refuse(`one of ${setting.choices.join(', ')}`);
    case 'list':
      return given
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
    case 'proxies':
      return (
        parseProxies(given) ??
        refuse(
          'the number of proxies in front of this server (1) or their networks (10.0.0.0/8,192.0.2.7): what lies further ' +
            'left in X-Forwarded-For is written by the caller',
        )
      );
    case 'flag':
      return /^(true|1|yes)$/i.test(given) ? true : /^(false|0|no)$/i.test(given) ? false : refuse('true or false');
  }
}

const maxProxyHops = 10;

function parseProxies(given: string): TrustedProxies | undefined {
  if (/^(false|no|0)$/i.test(given)) return false;
  if (/^\d+$/.test(given)) return Number(given) <= maxProxyHops ? Number(given) : undefined;
  const networks = given.split(',').map((network) => network.trim());
  try {
    networks.forEach(parseProxyNetwork);
    return networks;
  } catch {
    return undefined;
  }
}

/**
 * Default data folder: next to the code, so that a clone and its data are removed together. npm would remove a folder next to
 * an installed package, and the executable runs from a cache folder, so the default is then below the working directory.
 */
export const defaultDataFolder =
  isSea() || import.meta.dirname.split(sep).includes('node_modules')
    ? join(process.cwd(), 'carillon-data')
    : join(import.meta.dirname, '..', '..', '..', 'data');

/** Returns the device defaults that apply unless the workspace sets its own. */
export function phoneDefaultsOf({
  headerPrefix,
  publicUrl,
}: Pick<Config, 'headerPrefix' | 'publicUrl'>): PhoneDefaults {
  return { dataPrefix: headerPrefix.toLowerCase(), publicUrl };
}

/**
 * Sets HOME if the process has no home folder. An account without a name, which containers often use, has a home only by HOME,
 * and a library that looks up its settings there while loading would abort the start. Nothing is written there.
 */
export function ensureHome(environment: NodeJS.ProcessEnv): void {
  try {
    homedir();
  } catch {
    environment.HOME = tmpdir();
  }
}
