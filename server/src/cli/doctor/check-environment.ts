import { X509Certificate } from 'node:crypto';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { shortCertificateDays } from '../../domain/operations/upkeep.ts';
import type { Logger } from '../../log.ts';
import { makeOutgoingProxy, ProxyError } from '../../outgoing/proxy.ts';
import type { OutgoingProxy } from '../../outgoing/proxy.ts';
import {
  ConfigError,
  listChangedSettings,
  readConfig,
  defaultDataFolder,
  proxySettingsOf,
} from '../../start/config.ts';
import type { Config, ConfigSources } from '../../start/config.ts';
import { endOf, readTlsPair } from '../../start/node/server-certificate.ts';
import { readMachine } from '../../start/read-machine.ts';
import { diagnosing, showBytes } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';

const { good: settingsGood, wrong: settingsWrong } = diagnosing('settings');

/** `config` is undefined if an unusable setting remains: the next checks would use the wrong database. */
export type CheckedSettings = { config: Config | undefined; diagnoses: Diagnosis[] };

/**
 * Reports every invalid setting, not only the first: an invalid one is removed and the rest is read again. Unknown variables
 * prevent a start but no other check.
 */
export function checkSettings(sources: ConfigSources): CheckedSettings {
  const environment = { ...sources.environment };
  const diagnoses: Diagnosis[] = [];
  let isUsable = true;
  for (;;) {
    try {
      const config = readConfig({ ...sources, environment });
      if (diagnoses.length > 0) return { config: isUsable ? config : undefined, diagnoses };
      const changed = listChangedSettings(config);
      const found = changed.length === 0 ? 'All are at their defaults.' : `Set: ${changed.join(', ')}.`;
      return { config, diagnoses: [settingsGood(`Usable, for a node in ${config.mode} mode. ${found}`)] };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const isUnknown = error.message.includes(' is not a setting;');
      diagnoses.push(
        settingsWrong(
          error.message,
          isUnknown ? 'Remove or correct it.' : 'Correct it. docs/settings.md lists the values that it accepts.',
        ),
      );
      isUsable &&= isUnknown;
      // The message begins with the variable, or contains it if two settings depend on each other.
      const named = Object.keys(environment).find(
        (name) => /^(CARILLON_|DATABASE_URL)/.test(name) && new RegExp(`\\b${name}\\b`).test(error.message),
      );
      if (named === undefined) return { config: undefined, diagnoses };
      delete environment[named];
    }
  }
}

const folder = diagnosing('data folder');
const disk = diagnosing('disk');
// PostgreSQL stops when its disk is full, and a day of a large ledger takes gigabytes.
const fullBytes = 500e6;
const lowBytes = 5e9;
const lowShare = 0.1;

/** Checks permissions and space of the data folder, if it contains the embedded database or the generated master key. */
export async function checkFolder(config: Config): Promise<Diagnosis[]> {
  const path = config.dataFolder ?? defaultDataFolder;
  const isNeeded = config.databaseUrl === undefined || (config.masterKey === undefined && config.mode === 'sandbox');
  if (!isNeeded) return [folder.good('Not needed: the database and the master key are set.')];
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory())
    return [
      folder.wrong(
        `There is no folder ${path}.`,
        'Name the folder of the node with --data-dir. The first start creates it.',
      ),
    ];
  return [await checkRights(path), ...(await checkDisk(path))];
}

async function checkRights(path: string): Promise<Diagnosis> {
  const isWritable = await access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable)
    return folder.wrong(`This account cannot write to ${path}.`, 'Make the account that runs the node its owner.');
  const key = await stat(join(path, 'master.key')).catch(() => undefined);
  if (key && process.platform !== 'win32' && (key.mode & 0o077) !== 0)
    return folder.attention(
      `Other accounts can read ${join(path, 'master.key')}.`,
      `chmod 600 ${join(path, 'master.key')}`,
    );
  return folder.good(`${path} exists and is writable.`);
}

async function checkDisk(path: string): Promise<Diagnosis[]> {
  const { disk: space } = await readMachine(path);
  if (!space) return [];
  const { freeBytes, totalBytes } = space;
  const found = `${showBytes(freeBytes)} of ${showBytes(totalBytes)} are free on the disk of ${path}.`;
  const todo = 'Free space, or shorten the retention of records (docs/retention.md).';
  if (freeBytes < fullBytes) return [disk.wrong(found, todo)];
  return [freeBytes < lowBytes && freeBytes < totalBytes * lowShare ? disk.attention(found, todo) : disk.good(found)];
}

const proxyCheck = diagnosing('proxy');
const urlCheck = diagnosing('public URL');
const waitMilliseconds = 5_000;
// A host that every installation with mobile devices calls.
const probed = { host: 'fcm.googleapis.com', port: 443, isSecure: true };

/** Checks the outgoing proxy by opening a tunnel that carries no request. */
export async function checkProxy(
  config: Config,
  log: Logger,
): Promise<{ proxy: OutgoingProxy | undefined; diagnosis: Diagnosis }> {
  const proxy = makeOutgoingProxy(proxySettingsOf(config), log);
  if (!proxy) return { proxy, diagnosis: proxyCheck.good('Not set: outgoing calls are direct.') };
  if (!proxy.isFor(probed)) return { proxy, diagnosis: proxyCheck.good('CARILLON_NO_PROXY excludes the providers.') };
  try {
    const socket = await proxy.openTunnel(probed, AbortSignal.timeout(waitMilliseconds));
    socket.destroy();
    return { proxy, diagnosis: proxyCheck.good(`It reaches ${probed.host}.`) };
  } catch (error) {
    const why = error instanceof ProxyError ? error.message : 'the outgoing proxy does not respond';
    const found = `Connecting to ${probed.host}:${probed.port} failed: ${why}.`;
    return {
      proxy,
      diagnosis: proxyCheck.wrong(found, 'Check CARILLON_OUTGOING_PROXY, and which hosts the proxy allows.'),
    };
  }
}

/** Checks the public URL, which links in emails and callers' requests use. */
export async function checkPublicUrl({ publicUrl, mode }: Config): Promise<Diagnosis> {
  if (publicUrl === undefined)
    return mode === 'production'
      ? urlCheck.attention('CARILLON_PUBLIC_URL is not set: links contain the host and port of a node.', 'Set it.')
      : urlCheck.good('Not set: links contain the host and port of a node.');
  const todo =
    'Check the host name, the certificate and the proxy in front of the nodes. Other networks may still reach it.';
  try {
    const answer = await fetch(`${publicUrl}/livez`, { signal: AbortSignal.timeout(waitMilliseconds) });
    const body = (await answer.json()) as { status?: string };
    if (answer.status !== 200 || body.status !== 'ok')
      return urlCheck.attention(`${publicUrl}/livez returns ${answer.status}, unlike a node.`, todo);
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } };
    return urlCheck.attention(`${publicUrl} cannot be reached from here: ${cause?.code ?? message}.`, todo);
  }
  if (mode === 'production' && publicUrl.startsWith('http:'))
    return urlCheck.attention(`${publicUrl} is not encrypted.`, 'Serve it over https.');
  return urlCheck.good(`A node responds at ${publicUrl}.`);
}

const reach = diagnosing('reach');
const reachMilliseconds = 5_000;
/** The hosts that most installations call; browsers' services have many hosts. */
const hosts = ['fcm.googleapis.com', 'oauth2.googleapis.com', 'api.push.apple.com'];

/**
 * Checks that the providers' hosts are reachable and present valid certificates. With an outgoing proxy, the check of the proxy
 * covers this.
 */
export async function checkReach(config: Pick<Config, 'mode'>, proxy: OutgoingProxy | undefined): Promise<Diagnosis> {
  if (config.mode === 'sandbox') return reach.good('A sandbox calls its own simulators.');
  if (proxy) return reach.good('Outgoing calls use the proxy.');
  const faults = (await Promise.all(hosts.map(findFault))).flatMap((fault) => (fault === undefined ? [] : [fault]));
  if (faults.length === 0) return reach.good(`${hosts.join(', ')} respond.`);
  return reach.attention(
    `${faults.join('; ')}.`,
    'Allow sending nodes to reach port 443 (DNS, firewall, certificates), or set CARILLON_OUTGOING_PROXY.',
  );
}

/** Returns undefined when a TLS connection can be made. */
function findFault(host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: 443, servername: host, timeout: reachMilliseconds });
    const end = (fault?: string): void => {
      socket.destroy();
      resolve(fault === undefined ? undefined : `${host}: ${fault}`);
    };
    socket.once('secureConnect', () => end());
    socket.once('timeout', () => end('no response'));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}

const { good: certificateGood, attention: certificateAttention, wrong: certificateWrong } = diagnosing('certificate');
const dayMilliseconds = 86_400_000;

/** Checks the certificate that the node itself serves. */
export async function checkCertificate(
  { tlsCert, tlsKey, publicUrl }: Pick<Config, 'tlsCert' | 'tlsKey' | 'publicUrl'>,
  now: Date,
): Promise<Diagnosis> {
  if (tlsCert === undefined || tlsKey === undefined)
    return certificateGood('Not set: this node does not serve https itself.');
  let cert: string;
  try {
    ({ cert } = await readTlsPair({ certFile: tlsCert, keyFile: tlsKey }));
  } catch (error) {
    return certificateWrong((error as Error).message, 'Check CARILLON_TLS_CERT and CARILLON_TLS_KEY.');
  }
  const endsAt = endOf({ cert });
  const days = Math.floor((endsAt.getTime() - now.getTime()) / dayMilliseconds);
  if (days < 0)
    return certificateWrong(
      `It expired at ${endsAt.toISOString()}.`,
      'Renew it. A node loads the new files within a minute.',
    );
  const host = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
  if (host !== undefined && new X509Certificate(cert).checkHost(host) === undefined)
    return certificateWrong(
      `It is not for ${host}, the host of CARILLON_PUBLIC_URL.`,
      'Request a certificate for that name.',
    );
  if (days < shortCertificateDays)
    return certificateAttention(
      `It expires in ${days} days, at ${endsAt.toISOString()}.`,
      'Check why it was not renewed yet.',
    );
  return certificateGood(`It is valid for ${days} days.`);
}
