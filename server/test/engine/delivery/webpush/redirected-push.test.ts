import { createECDH, randomBytes } from 'node:crypto';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { RequestListener } from 'node:http';
import type { Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeManualClock } from '../../../../src/clock.ts';
import type { WebPushCredential } from '../../../../src/domain/providers/webpush.ts';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import { decryptWebPush } from '../../../../src/providers/webpush/simulated-browser.ts';
import { makeWebPushProvider } from '../../../../src/providers/webpush/provider.ts';
import { makeLog } from '../../../../src/log.ts';
import { listen } from '../../outgoing-http/proxy-bundle.ts';
import { makeCertificate } from '../make-certificate.ts';
import { makeMessage } from '../make-message.ts';

const certificate = makeCertificate();
const before = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...before, certificate.cert]));
afterAll(() => setDefaultCACertificates(before));

const browser = createECDH('prime256v1');
const p256dh = browser.generateKeys();
const auth = randomBytes(16);
const site = createECDH('prime256v1');
const credential: WebPushCredential = {
  ...{ provider: 'webpush', subject: 'mailto:push@shop.example', simulated: false },
  publicKey: site.generateKeys('base64url'),
  privateKey: Buffer.from(site.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url'),
};

function makeSender() {
  const log = makeLog({ level: 'silent', pretty: false });
  const transport = makeHttp2Transport({ log, allowedNetworks: ['127.0.0.0/8', '::1/128'] });
  const clock = makeManualClock(new Date('2026-11-21T12:00:00Z'));
  const provider = makeWebPushProvider({ clock, log, transport, simulator: undefined });
  onTestFinished(async () => {
    await transport.close();
    await provider.close();
  });
  return (endpoint: string) => {
    const keys = { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') };
    const device = { deviceId: '0', platform: 'WEB', pushId: JSON.stringify({ endpoint, keys }) } as const;
    const planned = provider.plan({ message: makeMessage('WEB', '0'), device, credential });
    if ('outcome' in planned) throw new Error(planned.outcome.kind);
    return provider.send(planned.plan, credential);
  };
}

async function serve(server: { listen: Server['listen']; close(): unknown }): Promise<string> {
  const port = await listen(server as Server);
  onTestFinished(() => void server.close());
  return `https://localhost:${port}`;
}

const redirectTo =
  (location: string): RequestListener =>
  (request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(307, { location }).end());
  };

test('a push service of HTTP/1.1 redirects a message to one of HTTP/2, and it arrives there whole', async () => {
  const got: { method: string; body: Buffer; authorization: string | undefined }[] = [];
  const other = createSecureServer(certificate, (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { authorization } = request.headers;
      got.push({ method: request.method, body: Buffer.concat(pieces), authorization });
      response.writeHead(201).end();
    });
  });
  const to = await serve(other);
  const from = await serve(createHttpsServer(certificate, redirectTo(`${to}/new`)));
  expect(await makeSender()(`${from}/old`)).toMatchObject({ kind: 'answer', status: 201 });
  expect(got).toHaveLength(1);
  expect(got[0]!.method).toBe('POST');
  const claims = Buffer.from(got[0]!.authorization!.split('.')[1]!, 'base64url').toString();
  expect(JSON.parse(claims)).toMatchObject({ aud: to });
  const read = decryptWebPush(got[0]!.body, { ecdh: browser, auth });
  expect(JSON.parse(read.toString())).toMatchObject({ title: 'Title' });
});

test.each(['https://10.0.0.1/admin', 'https://169.254.169.254/latest/meta-data/', 'https://[::ffff:10.0.0.1]/'])(
  'a redirect to %s, which the guard blocks, is the answer',
  async (location) => {
    const from = await serve(createHttpsServer(certificate, redirectTo(location)));
    expect(await makeSender()(`${from}/old`)).toMatchObject({ kind: 'answer', status: 307, headers: { location } });
  },
);

test('a push service that redirects in a circle gets the message three times', async () => {
  const paths: string[] = [];
  const from = await serve(
    createHttpsServer(certificate, (request, response) => {
      paths.push(request.url!);
      redirectTo(request.url === '/a' ? '/b' : '/a')(request, response);
    }),
  );
  expect(await makeSender()(`${from}/a`)).toMatchObject({ kind: 'answer', status: 307 });
  expect(paths).toEqual(['/a', '/b', '/a']);
});
