import { expect, test } from 'vitest';
import { ConfigError, proxySettingsOf, readConfig } from '../../src/start/config.ts';

const read = (environment: Record<string, string>) => readConfig({ environment, arguments: [] });
const proxy = { CARILLON_OUTGOING_PROXY: 'http://proxy.example:3128' };

test.each([
  'proxy.example:3128',
  'socks5://proxy.example:1080',
  'http://proxy.example:3128/path',
  'http://proxy.example:3128/?a=b',
  'http://us%3Aer:CANARY@proxy.example:3128',
  'http://user:CANARY%zz@proxy.example:3128',
  'http://CANARY:70000',
])('CARILLON_OUTGOING_PROXY=%s is refused, and not shown', (url) => {
  expect(() => read({ CARILLON_OUTGOING_PROXY: url })).toThrow(/^CARILLON_OUTGOING_PROXY takes .*\(hidden\)/);
  expect(() => read({ CARILLON_OUTGOING_PROXY: url })).not.toThrow(/CANARY/);
});

test('what only makes sense with the outgoing proxy is refused without it', () => {
  expect(() => read({ CARILLON_NO_PROXY: 'a.example' })).toThrow(/need CARILLON_OUTGOING_PROXY/);
  expect(() => read({ CARILLON_PROXY_RESOLVES: 'true' })).toThrow(/need CARILLON_OUTGOING_PROXY/);
  expect(() => read({ ...proxy, CARILLON_PROXY_HOSTS: 'a.example' })).toThrow(ConfigError);
  expect(proxySettingsOf(read({}))).toBeUndefined();
});

test('the settings of the outgoing proxy are read', () => {
  const all = {
    ...proxy,
    CARILLON_NO_PROXY: 'a.example b.example,c.example:81',
    CARILLON_PROXY_RESOLVES: 'true',
    CARILLON_PROXY_HOSTS: '*.D.example',
  };
  expect(proxySettingsOf(read(all))).toMatchObject({
    host: 'proxy.example',
    bypass: [{ host: 'a.example' }, { host: 'b.example' }, { host: 'c.example', port: 81 }],
    resolvesNames: true,
    hosts: ['*.d.example'],
  });
});
