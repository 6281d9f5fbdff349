import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkCertificate } from '../../src/cli/doctor/check-environment.ts';
import type { TlsPair } from '../../src/http/server/listener.ts';
import type { Logger } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { endOf, openServerCertificate } from '../../src/start/node/server-certificate.ts';
import { listNodes } from '../../src/storage/installation/nodes.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import { makeCertificate } from '../engine/delivery/make-certificate.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-tls-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function write(name: string, { cert, key }: TlsPair) {
  const files = { certFile: join(folder, `${name}.crt`), keyFile: join(folder, `${name}.key`) };
  await writeFile(files.certFile, cert);
  await writeFile(files.keyFile, key);
  return files;
}

function listen() {
  const lines: string[] = [];
  const note = (_facts: unknown, words: string): void => void lines.push(words);
  return { lines, log: { info: note, error: note } as unknown as Logger };
}

test('a certificate without its file, without its own key, or that is not one, is refused with the name of its setting', async () => {
  const pair = makeCertificate();
  const { log } = listen();
  const files = await write('good', pair);
  await expect(openServerCertificate({ ...files, keyFile: join(folder, 'none') }, log)).rejects.toMatchObject({
    code: 'SETTING_INVALID',
    message: expect.stringMatching(/^CARILLON_TLS_KEY: .*none cannot be read \(ENOENT\)\.$/),
  });
  for (const wrong of [
    { ...pair, key: makeCertificate().key },
    { ...pair, cert: 'nothing' },
  ])
    await expect(openServerCertificate(await write('wrong', wrong), log)).rejects.toMatchObject({
      code: 'SETTING_INVALID',
      message: expect.stringMatching(
        /^CARILLON_TLS_CERT and CARILLON_TLS_KEY are no certificate \(PEM\) with its key: /,
      ),
    });
});

test('renewed files are told at the next look, once; half of a pair is not, and what was served is served on', async () => {
  const { log, lines } = listen();
  const first = makeCertificate();
  const files = await write('renewed', first);
  const certificate = await openServerCertificate(files, log);
  const told: TlsPair[] = [];
  certificate.onChange((pair) => told.push(pair));
  const look = () => certificate.job.runOnce(new Date(0));
  await look();
  expect([told, lines]).toEqual([[], []]);
  const second = makeCertificate();
  await writeFile(files.certFile, second.cert);
  await look();
  expect([told, certificate.pair(), lines]).toEqual([[], first, ['certificate cannot be read again']]);
  await writeFile(files.keyFile, second.key);
  await look();
  await look();
  expect([told, certificate.pair(), lines.slice(1)]).toEqual([[second], second, ['certificate renewed']]);
  expect(certificate.endsAt()).toEqual(endOf(second));
});

test('a node tells the others when its certificate ends', async () => {
  const pair = makeCertificate();
  const { certFile, keyFile } = await write('node', pair);
  const bundle = await startCarillonBundle({ CARILLON_TLS_CERT: certFile, CARILLON_TLS_KEY: keyFile });
  try {
    expect(await listNodes(bundle.database)).toMatchObject([{ certificateEndsAt: endOf(pair) }]);
  } finally {
    await bundle.stop();
  }
});

test('the certificate and its key are given together', () => {
  for (const name of ['CARILLON_TLS_CERT', 'CARILLON_TLS_KEY'])
    expect(() => readConfig({ environment: { [name]: '/a' }, arguments: [] })).toThrow(
      'CARILLON_TLS_CERT and CARILLON_TLS_KEY are given together.',
    );
});

test('the doctor tells a certificate that cannot be read, has ended, ends soon, or is for another host', async () => {
  const pair = makeCertificate(['push.example.com']);
  const { certFile: tlsCert, keyFile: tlsKey } = await write('doctor', pair);
  const endsAt = endOf(pair).getTime();
  const at = (days: number): Date => new Date(endsAt - days * 86_400_000);
  const config = { tlsCert, tlsKey, publicUrl: 'https://push.example.com' };
  const stateOf = async (changed: object, now: Date) => (await checkCertificate({ ...config, ...changed }, now)).state;
  expect(await stateOf({}, at(14))).toBe('good');
  expect(await stateOf({ tlsCert: undefined, tlsKey: undefined }, at(14))).toBe('good');
  expect(await stateOf({}, at(13))).toBe('attention');
  expect(await stateOf({}, new Date(endsAt + 1))).toBe('wrong');
  expect(await stateOf({ publicUrl: 'https://other.example.com' }, at(14))).toBe('wrong');
  expect(await stateOf({ tlsKey: '/none' }, at(14))).toBe('wrong');
});
