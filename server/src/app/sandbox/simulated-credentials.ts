import { createECDH, createHash, generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type {
  ApnsCredential,
  FcmCredential,
  HmsCredential,
  WebPushCredential,
} from '../../domain/credentials/credentials.ts';

const generate = promisify(generateKeyPair);

/**
 * Generates real keys for a workspace with simulated phones: a service account (RSA), an APNs key (P-256), VAPID keys and a
 * client secret. The simulators check signatures and secret against them as the providers would.
 *
 * @param name lower-case letters and digits; part of the project, team and bundle names
 */
export async function makeSimulatedCredentials(
  name: string,
): Promise<[FcmCredential, ApnsCredential, WebPushCredential, HmsCredential]> {
  const [account, apns] = await Promise.all([
    generate('rsa', { modulusLength: 2048 }),
    generate('ec', { namedCurve: 'P-256' }),
  ]);
  const vapid = createECDH('prime256v1');
  vapid.generateKeys();
  // Huawei's ids are numbers.
  const number = createHash('sha256').update(name).digest().readUIntBE(0, 6).toString();
  const short = name.slice(-10).toUpperCase().padStart(10, '0');
  return [
    {
      provider: 'fcm',
      projectId: `carillon-${name}`.slice(0, 30),
      clientEmail: `sender@carillon-${name}.iam.gserviceaccount.com`,
      privateKeyId: `key-${name}`,
      privateKey: account.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      simulated: true,
    },
    {
      provider: 'apns',
      teamId: short,
      keyId: short.split('').reverse().join(''),
      privateKey: apns.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      topic: `dev.carillon.${name}`,
      environment: 'sandbox',
      simulated: true,
    },
    {
      provider: 'webpush',
      publicKey: vapid.getPublicKey('base64url', 'uncompressed'),
      // A scalar with leading zero bytes is encoded in fewer than the 32 bytes the format requires.
      privateKey: Buffer.concat([Buffer.alloc(32), vapid.getPrivateKey()])
        .subarray(-32)
        .toString('base64url'),
      subject: 'mailto:sandbox@example.com',
      simulated: true,
    },
    {
      provider: 'hms',
      clientId: number,
      clientSecret: randomBytes(32).toString('hex'),
      owner: { kind: 'project', id: number },
      simulated: true,
    },
  ];
}
