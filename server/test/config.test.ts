import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../src/start/config.ts';
import { settings } from '../src/start/settings-table.ts';

const read = (environment: Record<string, string> = {}, parameters: string[] = []) =>
  readConfig({ environment, arguments: parameters });

const entra = {
  CARILLON_OIDC_ISSUER: 'https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0',
  CARILLON_OIDC_CLIENT_ID: 'carillon',
  CARILLON_OIDC_CLIENT_SECRET: 'secret',
  CARILLON_OIDC_DOMAINS: 'contoso.com',
  CARILLON_OIDC_EMAIL_TRUST: 'issuer-or-username',
};

test('accepts trust in the email addresses of an issuer with one tenant', () => {
  expect(read(entra).oidcEmailTrust).toBe('issuer-or-username');
  expect(read().oidcEmailTrust).toBe('verified');
  const shared = { ...entra, CARILLON_OIDC_ISSUER: 'https://login.microsoftonline.com/common/v2.0' };
  expect(read({ ...shared, CARILLON_OIDC_EMAIL_TRUST: 'verified' }).oidcIssuer).toBe(shared.CARILLON_OIDC_ISSUER);
});

test('uses the default of every setting that is not given', () => {
  const config = read();
  expect(Object.keys(config)).toEqual(Object.keys(settings));
  expect([config.port, config.mode, config.host, config.trustProxy]).toEqual([8080, 'sandbox', '127.0.0.1', false]);
});

test('prefers an option to the environment, and both to the default', () => {
  expect(read({ CARILLON_PORT: '1000' }).port).toBe(1000);
  expect(read({ CARILLON_PORT: '1000' }, ['--port', '2000']).port).toBe(2000);
  expect(read({}, ['--port=3000', '--json']).port).toBe(3000);
});

test('reads the value from the file in <NAME>_FILE, and rejects both forms together', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-config-'));
  const file = join(folder, 'key');
  await writeFile(file, `${'ab'.repeat(32)}\n`);
  expect(read({ CARILLON_MASTER_KEY_FILE: file }).masterKey).toEqual(Buffer.alloc(32, 0xab));
  expect(() => read({ CARILLON_MASTER_KEY_FILE: file, CARILLON_MASTER_KEY: 'x' })).toThrow(/not both/);
  expect(() => read({ CARILLON_MASTER_KEY_FILE: join(folder, 'none') })).toThrow(/cannot be read/);
  await rm(folder, { recursive: true });
});

describe('rejects an unusable setting by its name', () => {
  test.each([
    [{ CARILLON_PORT: '65536' }, /CARILLON_PORT takes a whole number from 0 to 65535/],
    [{ CARILLON_PORT: '80.5' }, /CARILLON_PORT/],
    [{ CARILLON_PORT: '1e3' }, /CARILLON_PORT/],
    [{ CARILLON_WORKER_CHUNKS: '17' }, /\(chunks\)/],
    [{ CARILLON_MODE: 'prod' }, /sandbox, production/],
    [{ CARILLON_JSON: 'maybe' }, /true or false/],
    [{ CARILLON_METRICS_TOKEN: 'fifteen-letters' }, /CARILLON_METRICS_TOKEN takes at least 16/],
    [{ CARILLON_METRICS_HOST: '10.0.0.1' }, /CARILLON_METRICS_HOST needs CARILLON_METRICS_PORT/],
    [{ CARILLON_HEADER_PREFIX: 'X Y' }, /CARILLON_HEADER_PREFIX/],
    [{ CARILLON_PUBLIC_URL: 'https://a.example/path' }, /CARILLON_PUBLIC_URL/],
    [{ CARILLON_UNHEARD_OF: '1' }, /CARILLON_UNHEARD_OF is not a setting/],
    [{ CARILLON_LOGLEVEL: 'info' }, /CARILLON_LOGLEVEL is not a setting/],
    [{ CARILLON_ROLE: 'boss' }, /CARILLON_ROLE/],
    [{ CARILLON_OIDC_EMAIL_TRUST: 'all' }, /CARILLON_OIDC_EMAIL_TRUST takes one of verified, issuer/],
    [{ CARILLON_OIDC_EMAIL_TRUST: 'issuer' }, /CARILLON_OIDC_EMAIL_TRUST=issuer needs CARILLON_OIDC_ISSUER/],
    [
      { ...entra, CARILLON_OIDC_DOMAINS: '', CARILLON_OIDC_EMAIL_TRUST: 'issuer' },
      /CARILLON_OIDC_EMAIL_TRUST=issuer needs CARILLON_OIDC_DOMAINS/,
    ],
    ...['common', 'organizations', 'consumers'].map((tenant): [Record<string, string>, RegExp] => [
      { ...entra, CARILLON_OIDC_ISSUER: `https://login.microsoftonline.com/${tenant}/v2.0` },
      /issuer of one tenant.*anyone can create an account/,
    ]),
  ] as [Record<string, string>, RegExp][])('%j', (environment, message) => {
    expect(() => read(environment)).toThrow(message);
    expect(() => read(environment)).toThrow(ConfigError);
  });

  test.each([
    [['--port', '99999'], /port takes a whole number from 0 to 65535/i],
    [['--prot', '1'], /prot/],
    [['--port'], /port/],
  ])('%j', (parameters, message) => {
    expect(() => read({}, parameters)).toThrow(message);
    expect(() => read({}, parameters)).toThrow(ConfigError);
  });

  test('does not show an invalid secret', () => {
    expect(() => read({ CARILLON_MASTER_KEY: 'CANARY' })).toThrow(/\(hidden\)/);
    expect(() => read({ CARILLON_MASTER_KEY: 'CANARY' })).not.toThrow(/CANARY/);
  });
});
