import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Job } from '../../engine/jobs/job.ts';
import type { ServedCertificate, TlsPair } from '../../http/server/listener.ts';
import type { Logger } from '../../log.ts';
import { settings } from '../settings-table.ts';
import { StartError } from '../start-errors.ts';

export type CertificateFiles = { certFile: string; keyFile: string };

export type ServerCertificate = ServedCertificate & {
  /** Returns the expiry of the certificate that is served now. */
  endsAt(): Date;
  /** Reads the files again; changes apply from the next connection on. */
  job: Job;
};

// Certificates are renewed days before they expire, so a minute is soon enough, and two small files are cheap to read.
const lookMilliseconds = 60_000;

/**
 * Loads this node's certificate from its files. A renewed one is used without a restart. An unusable one is logged at each
 * check, and the previous one is still served.
 *
 * @throws StartError SETTING_INVALID
 */
export async function openServerCertificate(files: CertificateFiles, log: Logger): Promise<ServerCertificate> {
  let pair: TlsPair;
  try {
    pair = await readTlsPair(files);
  } catch (error) {
    throw new StartError('SETTING_INVALID', (error as Error).message, error);
  }
  const changed = new Set<(pair: TlsPair) => void>();

  async function look(): Promise<number> {
    let found: TlsPair;
    try {
      found = await readTlsPair(files);
    } catch (error) {
      log.error({ err: error }, 'certificate cannot be read again');
      return 0;
    }
    if (found.cert === pair.cert && found.key === pair.key) return 0;
    pair = found;
    for (const tell of changed) tell(pair);
    log.info({ validTo: endOf(pair) }, 'certificate renewed');
    return 0;
  }

  return {
    pair: () => pair,
    endsAt: () => endOf(pair),
    onChange(tell) {
      changed.add(tell);
      return () => void changed.delete(tell);
    },
    job: { name: 'read-certificate', intervalMilliseconds: lookMilliseconds, runOnce: look },
  };
}

/** Reads both files, which must match. @throws Error with a message that names the setting */
export async function readTlsPair({ certFile, keyFile }: CertificateFiles): Promise<TlsPair> {
  const cert = await read(settings.tlsCert.variable, certFile);
  const key = await read(settings.tlsKey.variable, keyFile);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const { variable } = settings.tlsCert;
    throw new Error(
      `${variable} and ${settings.tlsKey.variable} are not a certificate (PEM) and its key: ${(error as Error).message}.`,
      { cause: error },
    );
  }
  return { cert, key };
}

/** Returns the expiry of the server's certificate, which is the first in its file. */
export function endOf({ cert }: Pick<TlsPair, 'cert'>): Date {
  return new X509Certificate(cert).validToDate;
}

async function read(variable: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`${variable}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    });
  }
}
