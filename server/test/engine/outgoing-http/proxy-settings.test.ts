import { describe, expect, test } from 'vitest';
import {
  isBypassed,
  parseProxySettings,
  ProxySettingsError,
} from '../../../src/engine/outgoing-http/proxy-settings.ts';
import { assertHostAllowed, HostNotAllowedError } from '../../../src/engine/outgoing-http/decide-host-name.ts';
import { isLoopback } from '../../../src/engine/outgoing-http/is-loopback.ts';
import { ConfigError, proxySettingsOf, readConfig } from '../../../src/start/config.ts';

const parse = (url: string, noProxy: string[] = []) =>
  parseProxySettings({ url, noProxy, resolvesNames: false, hosts: [] });

describe('the address of the proxy', () => {
  test.each([
    ['http://proxy.example:3128', { host: 'proxy.example', port: 3128, isSecure: false, authorization: undefined }],
    ['https://proxy.example', { host: 'proxy.example', port: 443, isSecure: true }],
    ['http://[2001:db8::1]:8080/', { host: '2001:db8::1', port: 8080 }],
    ['http://user:p%40ss%3A%25@proxy.example:3128', { authorization: `Basic ${btoa('user:p@ss:%')}` }],
    ['http://user@proxy.example:3128', { authorization: `Basic ${btoa('user:')}` }],
  ])('%s', (url, expected) => expect(parse(url)).toMatchObject(expected));

  test.each([
    'proxy.example:3128',
    'socks5://proxy.example:1080',
    'http://proxy.example:3128/path',
    'http://proxy.example:3128/?a=b',
    'http://us%3Aer:CANARY@proxy.example:3128',
    'http://user:CANARY%zz@proxy.example:3128',
    'http://CANARY:70000',
  ])('%s is refused, and not shown', (url) => {
    expect(() => parse(url)).toThrow(ProxySettingsError);
    expect(() => parse(url)).not.toThrow(/CANARY/);
    expect(() => readConfig({ environment: { CARILLON_OUTGOING_PROXY: url }, arguments: [] })).toThrow(
      /^CARILLON_OUTGOING_PROXY takes .*\(hidden\)/,
    );
  });

  test('what only makes sense with it is refused without it', () => {
    const read = (environment: Record<string, string>) => readConfig({ environment, arguments: [] });
    const proxy = { CARILLON_OUTGOING_PROXY: 'http://proxy.example:3128' };
    expect(() => read({ CARILLON_NO_PROXY: 'a.example' })).toThrow(/need CARILLON_OUTGOING_PROXY/);
    expect(() => read({ CARILLON_PROXY_RESOLVES: 'true' })).toThrow(/need CARILLON_OUTGOING_PROXY/);
    expect(() => read({ ...proxy, CARILLON_PROXY_HOSTS: 'a.example' })).toThrow(ConfigError);
    const all = {
      ...proxy,
      CARILLON_NO_PROXY: 'a.example b.example,c.example:81',
      CARILLON_PROXY_RESOLVES: 'true',
      CARILLON_PROXY_HOSTS: '*.D.example',
    };
    expect(proxySettingsOf(read(all))).toMatchObject({
      bypass: [{ host: 'a.example' }, { host: 'b.example' }, { host: 'c.example', port: 81 }],
      resolvesNames: true,
      hosts: ['*.d.example'],
    });
    expect(proxySettingsOf(read({}))).toBeUndefined();
  });
});

test.each([
  ['example.com', { host: 'example.com', port: 443 }, true],
  ['example.com', { host: 'a.b.EXAMPLE.com.', port: 443 }, true],
  ['example.com', { host: 'badexample.com', port: 443 }, false],
  ['.example.com', { host: 'example.com', port: 443 }, true],
  ['*.example.com', { host: 'a.example.com', port: 80 }, true],
  ['example.com:8443', { host: 'example.com', port: 8443 }, true],
  ['example.com:8443', { host: 'example.com', port: 443 }, false],
  ['10.1.2.3', { host: '10.1.2.3', port: 80 }, true],
  ['2.3', { host: '10.1.2.3', port: 80 }, false],
  ['2001:db8::1', { host: '2001:db8::1', port: 80 }, true],
  ['[2001:db8::1]:81', { host: '2001:db8::1', port: 81 }, true],
  ['[2001:db8::1]:81', { host: '2001:db8::1', port: 80 }, false],
  ['*', { host: 'anything.example', port: 1 }, true],
  ['*:444', { host: 'anything.example', port: 443 }, false],
])('CARILLON_NO_PROXY=%s and %j: called without the proxy: %s', (rule, target, expected) => {
  expect(isBypassed(parse('http://p.example:1', [rule]).bypass, target)).toBe(expected);
});

test.each([
  ['fcm.googleapis.com', [], true],
  ['web.push.apple.com', [], true],
  ['updates.push.services.mozilla.com.', [], true],
  ['push.services.mozilla.com', [], false],
  ['evil-fcm.googleapis.com', [], false],
  ['fcm.googleapis.com.evil.example', [], false],
  ['files.example.com', ['files.example.com'], true],
  ['a.files.example.com', ['files.example.com'], false],
  ['a.files.example.com', ['*.example.com'], true],
  ['example.com', ['*.example.com'], false],
  ['any.example', ['*'], true],
  ['intranet', ['*', 'intranet'], false],
  ['10.0.0.1', ['*', '10.0.0.1'], false],
  ['2001:db8::1', ['*'], false],
])('where the proxy resolves, %s with %j listed may be called: %s', (host, hosts, expected) => {
  const judge = () => assertHostAllowed(host, hosts);
  if (expected) expect(judge).not.toThrow();
  else expect(judge).toThrow(HostNotAllowedError);
});

test.each([
  ['localhost', true],
  ['a.LOCALHOST.', true],
  ['127.8.0.1', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['localhost.example', false],
  ['10.0.0.1', false],
])('%s is this machine: %s', (host, expected) => expect(isLoopback(host)).toBe(expected));
