import { connect } from 'node:tls';
import type { OutgoingProxy } from '../../engine/outgoing-http/outgoing-proxy.ts';
import type { Config } from '../../start/config.ts';
import { diagnosing } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';

const reach = diagnosing('reach');
const waitMilliseconds = 5_000;
/** Those that most installations call; browsers' services have many hosts. */
const hosts = ['fcm.googleapis.com', 'oauth2.googleapis.com', 'api.push.apple.com'];

/** Whether the hosts of the providers are reached and prove who they are. Behind a proxy that is asked instead. */
export async function checkReach(config: Pick<Config, 'mode'>, proxy: OutgoingProxy | undefined): Promise<Diagnosis> {
  if (config.mode === 'sandbox') return reach.good('A sandbox calls its own simulators.');
  if (proxy) return reach.good('The internet is called by the outgoing proxy.');
  const faults = (await Promise.all(hosts.map(findFault))).flatMap((fault) => (fault === undefined ? [] : [fault]));
  if (faults.length === 0) return reach.good(`${hosts.join(', ')} answer.`);
  return reach.attention(
    `${faults.join('; ')}.`,
    'Let nodes that send out to port 443 (names, firewall, certificates), or name a proxy with CARILLON_OUTGOING_PROXY.',
  );
}

/** Undefined when a TLS connection can be made. */
function findFault(host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: 443, servername: host, timeout: waitMilliseconds });
    const end = (fault?: string): void => {
      socket.destroy();
      resolve(fault === undefined ? undefined : `${host}: ${fault}`);
    };
    socket.once('secureConnect', () => end());
    socket.once('timeout', () => end('no answer'));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}
