import { X509Certificate } from 'node:crypto';
import { shortCertificateDays } from '../../domain/overview/judge-upkeep.ts';
import { endOf, readTlsPair } from '../../start/server-certificate.ts';
import type { Config } from '../../start/config.ts';
import { diagnosing } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';

const { good, attention, wrong } = diagnosing('certificate');
const dayMilliseconds = 86_400_000;

/** The certificate that the node itself serves. */
export async function checkCertificate(
  { tlsCert, tlsKey, publicUrl }: Pick<Config, 'tlsCert' | 'tlsKey' | 'publicUrl'>,
  now: Date,
): Promise<Diagnosis> {
  if (tlsCert === undefined || tlsKey === undefined) return good('None is set: this node does not serve https itself.');
  let cert: string;
  try {
    ({ cert } = await readTlsPair({ certFile: tlsCert, keyFile: tlsKey }));
  } catch (error) {
    return wrong((error as Error).message, 'See CARILLON_TLS_CERT and CARILLON_TLS_KEY.');
  }
  const endsAt = endOf({ cert });
  const days = Math.floor((endsAt.getTime() - now.getTime()) / dayMilliseconds);
  if (days < 0)
    return wrong(`It ended at ${endsAt.toISOString()}.`, 'Renew it; a node takes the new files in a minute.');
  const host = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
  if (host !== undefined && new X509Certificate(cert).checkHost(host) === undefined)
    return wrong(`It is not for ${host}, the host of CARILLON_PUBLIC_URL.`, 'Have one made for that name.');
  if (days < shortCertificateDays)
    return attention(`It ends in ${days} days, at ${endsAt.toISOString()}.`, 'See why it was not renewed yet.');
  return good(`It is good for ${days} days.`);
}
