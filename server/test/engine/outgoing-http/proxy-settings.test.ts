import { describe, expect, test } from 'vitest';
import { isBypassed, parseProxySettings, ProxySettingsError, isLoopback } from '../../../src/outgoing/proxy.ts';
import { assertHostAllowed, HostNotAllowedError } from '../../../src/outgoing/guard.ts';

const parse = (url: string, noProxy: string[] = []) =>
  parseProxySettings({ url, noProxy, resolvesNames: false, hosts: [] });

describe('the address of the proxy', () => {
  test.each([
    ['http://proxy.example:3128', { host: 'proxy.example', port: 3128, isSecure: false, authorization: undefined }],
    ['http://proxy.example', { host: 'proxy.example', port: 80, isSecure: false }],
    ['https://proxy.example', { host: 'proxy.example', port: 443, isSecure: true }],
    ['https://proxy.example:80', { port: 80, isSecure: true }],
    ['http://[2001:db8::1]:8080/', { host: '2001:db8::1', port: 8080 }],
    ['http://user:p%40ss%3A%25@proxy.example:3128', { authorization: `Basic ${btoa('user:p@ss:%')}` }],
    ['http://user@proxy.example:3128', { authorization: `Basic ${btoa('user:')}` }],
    ['http://:secret@proxy.example:3128', { authorization: `Basic ${btoa(':secret')}` }],
    // The example of RFC 7617 §2.1: a pound sign in UTF-8.
    ['http://test:123%C2%A3@proxy.example:3128', { authorization: 'Basic dGVzdDoxMjPCow==' }],
  ])('%s', (url, expected) => expect(parse(url)).toMatchObject(expected));

  const origin = 'http://[user:password@]host:port or the same with https';
  test.each([
    ['proxy.example:3128', origin],
    ['CANARY', origin],
    ['socks5://proxy.example:1080', origin],
    ['ws://proxy.example:3128', origin],
    ['http://proxy.example:3128/path', origin],
    ['http://proxy.example:3128/?a=b', origin],
    ['http://proxy.example:3128/#a', origin],
    ['shttp://proxy.example:3128/', origin],
    ['http://CANARY:70000', origin],
    ['http://us%3Aer:CANARY@proxy.example:3128', 'a user without a colon'],
    ['http://user:CANARY%zz@proxy.example:3128', 'user and password with what is no letter or digit written as %XX'],
    ['http://CANARY%zz:x@proxy.example:3128', 'user and password with what is no letter or digit written as %XX'],
  ])('%s is refused, and the form is told in its place', (url, form) => {
    expect(() => parse(url)).toThrow(ProxySettingsError);
    expect(() => parse(url)).toThrow(expect.objectContaining({ name: 'ProxySettingsError', message: form }));
  });

  test.each([true, false])('who resolves names (%s) and the hosts are kept, in lower case', (resolvesNames) => {
    const hosts = ['*.D.example', 'e.example'];
    expect(parseProxySettings({ url: 'http://p.example:1', noProxy: [], resolvesNames, hosts })).toMatchObject({
      resolvesNames,
      hosts: ['*.d.example', 'e.example'],
      bypass: [],
    });
  });
});

test('hosts that are called without the proxy may be listed with commas, spaces or both', () => {
  expect(parse('http://p.example:1', ['a.example  b.example:81', ' c.example\td.example ', '', ' ']).bypass).toEqual([
    { host: 'a.example', port: undefined },
    { host: 'b.example', port: 81 },
    { host: 'c.example', port: undefined },
    { host: 'd.example', port: undefined },
  ]);
});

test.each([
  ['example.com', { host: 'example.com', port: 443 }, true],
  ['example.com', { host: 'a.b.EXAMPLE.com.', port: 443 }, true],
  ['example.com', { host: 'example.com.', port: 443 }, true],
  ['EXAMPLE.com', { host: 'example.com', port: 443 }, true],
  ['example.com', { host: 'badexample.com', port: 443 }, false],
  ['example.com', { host: 'example.com.other.example', port: 443 }, false],
  ['a.example.com', { host: 'example.com', port: 443 }, false],
  ['.example.com', { host: 'example.com', port: 443 }, true],
  ['*.example.com', { host: 'a.example.com', port: 80 }, true],
  ['example.com:8443', { host: 'example.com', port: 8443 }, true],
  ['example.com:8443', { host: 'example.com', port: 443 }, false],
  ['*.example.com:8443', { host: 'a.example.com', port: 8443 }, true],
  ['*.example.com:8443', { host: 'a.example.com', port: 443 }, false],
  // No port: such a rule is of no host.
  ['example.com:', { host: 'example.com', port: 443 }, false],
  ['example.com:8443x', { host: 'example.com', port: 8443 }, false],
  ['10.1.2.3', { host: '10.1.2.3', port: 80 }, true],
  ['2.3', { host: '10.1.2.3', port: 80 }, false],
  ['2001:db8::1', { host: '2001:db8::1', port: 80 }, true],
  ['2001:db8::1:81', { host: '2001:db8::1', port: 81 }, false],
  ['[2001:DB8::1]', { host: '2001:db8::1', port: 80 }, true],
  ['[2001:db8::1]:81', { host: '2001:db8::1', port: 81 }, true],
  ['[2001:db8::1]:81', { host: '2001:db8::1', port: 80 }, false],
  ['*', { host: 'anything.example', port: 1 }, true],
  ['*', { host: '10.1.2.3', port: 1 }, true],
  ['*:444', { host: 'anything.example', port: 444 }, true],
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
