import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** `cpuMicroseconds`: of the client's process per request. It does not change when others use the machine too. */
export type Measured = { rate: number; cpuMicroseconds: number };
export type ClientName = 'lane' | 'promises' | 'node-http2' | 'node-apn';

/** Sends this many requests of 400 bytes by one of the clients, in a separate process that trusts the certificate. */
export async function runTransportClient(
  name: ClientName,
  { origin, certificate, requests }: { origin: string; certificate: string; requests: number },
): Promise<Measured> {
  const script = join(import.meta.dirname, 'transport-client.ts');
  const words = ['--disable-warning=ExperimentalWarning', script, name, origin, String(requests)];
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: certificate };
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], env });
  let printed = '';
  child.stdout.on('data', (piece) => (printed += piece));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${printed}`);
  return JSON.parse(printed) as Measured;
}
