import { describe, expect, test } from 'vitest';
import { decideAddress, decideUrl, AddressBlockedError, resolveAllowedAddress } from '../../../src/outgoing/guard.ts';

// Spellings of places that are not the public internet (fault 3.4).
const blockedHosts = [
  '127.0.0.1',
  '127.1',
  '127.000.000.001',
  '0177.0.0.1',
  '0x7f.0.0.1',
  '2130706433',
  '0x7f000001',
  '017700000001',
  '127.255.255.254',
  '0.0.0.0',
  '0',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '168.63.129.16',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd00::1]',
  '[ff02::1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
  '[2001::1]',
  '[2001:db8::1]',
  '[fec0::1]',
  '[0:0:0:0:0:0:0:1]',
  '１２７.0.0.1',
  '①②⑦.0.0.1',
];
const publicHosts = ['8.8.8.8', '1.1.1.1', '93.184.216.34', '[2606:4700:4700::1111]', '[2a00:1450:4001:80b::200e]'];

describe('addresses others choose', () => {
  test.each(blockedHosts)('https://%s/ is refused before anything is connected', (host) => {
    expect(decideUrl(`https://${host}/file.csv`, [])).toMatchObject({ allowed: false });
  });
  test.each(publicHosts)('https://%s/ is allowed', (host) =>
    expect(decideUrl(`https://${host}/`, [])).toMatchObject({ allowed: true }),
  );

  test.each([
    ['file:///etc/passwd', 'scheme'],
    ['gopher://example.com/', 'scheme'],
    ['ftp://example.com/', 'scheme'],
    ['https://user@example.com/', 'credentials in the URL'],
    ['https://example.com:8443/', 'port'],
    ['http://example.com:443/', 'port'],
    ['//example.com', 'not a URL'],
  ])('%s is refused: %s', (url, reason) => expect(decideUrl(url, [])).toEqual({ allowed: false, reason }));

  test('an allow-list opens its networks and no other', () => {
    expect(decideAddress('10.1.2.3', ['10.1.0.0/16'])).toEqual({ allowed: true });
    expect(decideAddress('10.2.0.1', ['10.1.0.0/16'])).toMatchObject({ allowed: false });
    expect(decideAddress('::ffff:10.1.2.3', ['10.1.0.0/16'])).toEqual({ allowed: true });
    expect(decideAddress('127.0.0.1', ['10.1.0.0/16'])).toMatchObject({ allowed: false });
    expect(decideAddress('127.0.0.1', ['127.0.0.1'])).toEqual({ allowed: true });
  });

  test('a name with one private answer is refused, whichever comes first', async () => {
    for (const answers of [
      ['8.8.8.8', '127.0.0.1'],
      ['::1', '8.8.8.8'],
      ['8.8.8.8', 'fd00::1'],
    ]) {
      const resolver = async () => answers.map((address) => ({ address }));
      await expect(resolveAllowedAddress('rebind.example', { allowedNetworks: [], resolver })).rejects.toThrow(
        AddressBlockedError,
      );
    }
    const resolver = async () => [{ address: '8.8.8.8' }, { address: '1.1.1.1' }];
    expect(await resolveAllowedAddress('fine.example', { allowedNetworks: [], resolver })).toBe('8.8.8.8');
  });

  test('the refusal says the same for every private address', async () => {
    const messages = await Promise.all(
      ['127.0.0.1', '10.0.0.1', '169.254.169.254'].map((address) =>
        resolveAllowedAddress('x.example', { allowedNetworks: [], resolver: async () => [{ address }] }).catch(
          (error: Error) => error.message,
        ),
      ),
    );
    expect(new Set(messages).size).toBe(1);
    expect(messages[0]).not.toMatch(/\d/);
  });
});
