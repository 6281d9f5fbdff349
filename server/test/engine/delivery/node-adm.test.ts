import { createHash } from 'node:crypto';
import https from 'node:https';
import type { RequestOptions } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Sender } from 'node-adm';
import type { Message } from 'node-adm';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { parseAdmKey } from '../../../src/domain/providers/adm.ts';
import { makeLog } from '../../../src/log.ts';
import { makeSimulateAdm } from '../../../src/providers/adm/simulator.ts';
import { makeDelivery } from '../../../src/providers/deliver.ts';
import { realProviderEndpoints } from '../../../src/providers/registry.ts';
import { listenHttp1 } from '../../../src/providers/simulator/listen-http1.ts';
import type { DeliveredMessage } from '../../../src/providers/simulator/start-simulators.ts';
import { sendTogether } from './delivery-bundle.ts';
import { makeCertificate } from './make-certificate.ts';
import { makeMessage } from './make-message.ts';

// Amazon over TLS and HTTP/1.1, for the product and for node-adm as it is published.
const credential = parseAdmKey({
  clientId: 'amzn1.application-oa2-client.8e838f6629554e26ae3f43a6c663cd60',
  clientSecret: 'amzn1.oa2-cs.v1.s&cret',
});
const registrationId = `amzn1.adm-registration.v3.${'Y29t'.repeat(60)}`;
const certificate = makeCertificate();
const account = {
  workspaceId: 'w',
  adm: { clientId: credential.clientId, secretDigest: sha256(credential.clientSecret) },
};
const delivered: DeliveredMessage[] = [];
const before = getCACertificates('default');
let server: Awaited<ReturnType<typeof listenHttp1>>;

beforeAll(async () => {
  setDefaultCACertificates([...before, certificate.cert]);
  const simulate = makeSimulateAdm(() => [account]);
  server = await listenHttp1(async ({ readBody, respond, cut, ...request }) => {
    const at = new Date();
    const answer = await simulate({ ...request, body: await readBody(), now: at, shownAt: at });
    if (answer === 'silence') return cut();
    if (answer.delivered) delivered.push(answer.delivered);
    respond(answer);
  }, certificate);
});
afterAll(async () => {
  setDefaultCACertificates(before);
  await server.stop();
});

test('sends to a server without HTTP/2, individually and in a batch', async () => {
  const origin = server.origin.replace('127.0.0.1', 'localhost');
  const delivery = makeDelivery({
    clock: makeManualClock(new Date()),
    log: makeLog({ level: 'silent', pretty: false }),
    allowedNetworks: [],
    endpoints: { ...realProviderEndpoints, adm: { messagesOrigin: origin, tokenOrigin: origin } },
  });
  onTestFinished(() => delivery.close());
  const credentials = { adm: credential };
  const device = { deviceId: '0', platform: 'ANDROID', provider: 'adm', pushId: registrationId } as const;
  const accepted = { kind: 'accepted', providerMessageId: expect.any(String) };
  expect(await delivery.deliver({ message: makeMessage('ANDROID', '0'), device, credentials })).toEqual({
    ...accepted,
    address: registrationId,
  });
  expect(delivered.at(-1)).toMatchObject({ deviceToken: registrationId, title: 'Title' });
  const pushIds = Array.from({ length: 40 }, (_, place) => `${registrationId}${place}`);
  const messages = pushIds.map((_, place) => makeMessage('ANDROID', String(place)));
  const outcomes = await sendTogether(delivery, { messages, pushIds, credentials, provider: 'adm' });
  expect(outcomes).toEqual(pushIds.map((address) => ({ ...accepted, address })));
});

// Its host is fixed, so its connections are redirected.
describe('node-adm', () => {
  const real = https.globalAgent;
  const send = (message: Message, id: string, secret = credential.clientSecret) => {
    const sender = new Sender({ client_id: credential.clientId, client_secret: encodeURIComponent(secret) });
    return new Promise<object>((resolve) =>
      sender.send(message, id, (error, result) => resolve(error ? { error: error.message } : result!)),
    );
  };
  beforeAll(() => {
    https.globalAgent = new RedirectingAgent(Number(new URL(server.origin).port));
  });
  afterAll(() => {
    https.globalAgent.destroy();
    https.globalAgent = real;
  });

  test('sends a message that is accepted and delivered', async () => {
    const data = { gcm_title: 'Sam', gcm_alert: 'Hey' };
    const message = { data, consolidationKey: 'chat', expiresAfter: 3600 };
    expect(await send(message, registrationId)).toEqual({ registrationID: registrationId });
    expect(delivered.at(-1)).toMatchObject({
      ...{ title: 'Sam', body: 'Hey', deviceToken: registrationId },
      transport: { consolidationKey: 'chat', expiresAfter: '3600' },
    });
  });

  test('receives the id that replaced another one', async () => {
    expect(await send({ data: {} }, `replaced-${registrationId}`)).toEqual({ registrationID: registrationId });
  });

  test.each([
    ['magic-gone-1', {}, 'Unregistered'],
    ['magic-invalid-1', {}, 'InvalidRegistrationId'],
    [registrationId, { expiresAfter: -1 }, 'InvalidExpiration'],
    ['magic-busy-1', {}, 'ADM service is unavailable.'],
  ])('receives the reason of a rejection: %s', async (id, more, error) => {
    expect(await send({ data: {}, ...more }, id)).toEqual({ error });
  });
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Connects every request to a port of this machine, whatever host it names. */
class RedirectingAgent extends https.Agent {
  readonly #port: number;

  constructor(port: number) {
    super();
    this.#port = port;
  }

  override createConnection(options: RequestOptions, tell: () => void) {
    return super.createConnection({ ...options, host: '127.0.0.1', port: this.#port, servername: 'localhost' }, tell);
  }
}
