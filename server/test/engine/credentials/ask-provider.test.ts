import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { ApnsCredential } from '../../../src/domain/providers/apns.ts';
import { makeAskProvider } from '../../../src/providers/check-credential.ts';
import { realProviderEndpoints } from '../../../src/providers/registry.ts';
import { makeLog } from '../../../src/log.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const credential: ApnsCredential = {
  ...{ provider: 'apns', teamId: 'TEAM', keyId: 'KEY', topic: 'com.shop', environment: 'production', simulated: false },
  privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
};

function makeAsk({ origin = 'http://127.0.0.1:1', maxMilliseconds = 60 } = {}) {
  const clock = makeManualClock(new Date('2026-11-21T12:00:00Z'));
  const endpoints = { ...realProviderEndpoints, apns: { production: origin, sandbox: origin } };
  const log = makeLog({ level: 'silent', pretty: false });
  return makeAskProvider({ clock, log, endpoints, allowedNetworks: [], maxMilliseconds });
}

test('a provider that says nothing is waited for no longer than was said', async () => {
  const server = createServer((socket) => void socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const askedAt = performance.now();
  expect(await makeAsk({ origin })(credential)).toEqual({ verdict: 'UNKNOWN', words: 'no answer within 0.06 seconds' });
  expect(performance.now() - askedAt).toBeGreaterThan(55);
});

test('what is known at once is told at once', async () => {
  expect(await makeAsk({ maxMilliseconds: 20_000 })(credential)).toMatchObject({ verdict: 'UNKNOWN' });
  const halves = {
    provider: 'webpush',
    publicKey: 'x',
    privateKey: 'y',
    subject: 'mailto:a@x.example',
    simulated: false,
  } as const;
  expect(await makeAsk()(halves)).toMatchObject({ verdict: 'REFUSED' });
});

test('a credential of a sandbox leads nowhere where no simulator runs', async () => {
  expect(await makeAsk()({ ...credential, simulated: true })).toEqual({
    verdict: 'UNKNOWN',
    words: 'It leads to the simulators of a sandbox, and none runs.',
  });
});
