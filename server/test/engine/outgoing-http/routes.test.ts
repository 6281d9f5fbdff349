import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { OutgoingRefusedError, postOnce } from '../../../src/outgoing/client.ts';
import type { OutgoingRequest } from '../../../src/outgoing/client.ts';
import {
  AddressBlockedError,
  HostNotAllowedError,
  assertHostAllowed,
  before,
  decideAddress,
  decideUrl,
  findRoute,
  parseNetwork,
  resolveAllowedAddress,
} from '../../../src/outgoing/guard.ts';
import { ProxySettingsError, isBypassed, isLoopback, parseProxySettings } from '../../../src/outgoing/proxy.ts';
import type { OutgoingProxy } from '../../../src/outgoing/proxy.ts';

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

describe('addresses that others choose', () => {
  test.each(blockedHosts)('are rejected before a connection: https://%s/', (host) => {
    expect(decideUrl(`https://${host}/file.csv`, [])).toMatchObject({ allowed: false });
  });
  test.each(publicHosts)('are allowed: https://%s/', (host) =>
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
  ])('are rejected: %s: %s', (url, reason) => expect(decideUrl(url, [])).toEqual({ allowed: false, reason }));

  test('include only those private networks that the allow-list opens', () => {
    expect(decideAddress('10.1.2.3', ['10.1.0.0/16'])).toEqual({ allowed: true });
    expect(decideAddress('10.2.0.1', ['10.1.0.0/16'])).toMatchObject({ allowed: false });
    expect(decideAddress('::ffff:10.1.2.3', ['10.1.0.0/16'])).toEqual({ allowed: true });
    expect(decideAddress('127.0.0.1', ['10.1.0.0/16'])).toMatchObject({ allowed: false });
    expect(decideAddress('127.0.0.1', ['127.0.0.1'])).toEqual({ allowed: true });
  });

  test('are rejected if one of the answers for a name is private, in any order', async () => {
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

  test('are rejected with the same message for every private address', async () => {
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

describe('the rules of routes', () => {
  // Decision D29: public unicast only, and what the operator opened.
  test.each([
    ['93.184.216.34', undefined],
    ['2606:2800:220:1::1', undefined],
    ['::ffff:93.184.216.34', undefined],
    ['127.0.0.1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['169.254.169.254', 'linkLocal'],
    ['::ffff:10.1.2.3', 'private'],
    ['::1', 'loopback'],
    ['fc00::1', 'uniqueLocal'],
    ['168.63.129.16', 'reserved'],
    ['nonsense', 'not an address'],
  ])('decide on the address %s: %s', (address, reason) => {
    const decision = decideAddress(address, []);
    expect(decision).toEqual(reason === undefined ? { allowed: true } : { allowed: false, reason });
  });

  test.each([
    ['10.1.2.3', '10.0.0.0/8', true],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.4', '10.1.2.3', false],
    ['192.168.1.1', '10.0.0.0/8', false],
    ['fc00::1', 'fc00::1', true],
    ['fc00::2', 'fc00::1', false],
    ['fc00::2', '10.0.0.0/8', false],
    ['::ffff:10.1.2.3', '10.0.0.0/8', true],
  ])('decide on %s if %s is opened: %s', (address, network, allowed) =>
    expect(decideAddress(address, [network]).allowed).toBe(allowed),
  );

  test('parse a network with its bits, or as one address', () => {
    expect([parseNetwork('10.0.0.0/8')[1], parseNetwork('10.0.0.1')[1], parseNetwork('fc00::1')[1]]).toEqual([
      8, 32, 128,
    ]);
    expect(() => parseNetwork('10.0.0.0/33')).toThrow();
  });

  test.each<[string, string | undefined]>([
    ['https://x.example/a?b', undefined],
    ['http://x.example', undefined],
    ['https://x.example:443/', undefined],
    ['http://x.example:80/', undefined],
    ['https://93.184.216.34/', undefined],
    ['https://[2606:2800:220:1::1]/', undefined],
    ['x.example', 'not a URL'],
    ['ftp://x.example/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['https://u@x.example/', 'credentials in the URL'],
    ['https://:p@x.example/', 'credentials in the URL'],
    ['https://x.example:80/', 'port'],
    ['http://x.example:443/', 'port'],
    ['https://x.example:8443/', 'port'],
    ['https://10.0.0.1/', 'private'],
    ['https://[::1]/', 'loopback'],
    // 127.0.0.1 as one number.
    ['http://2130706433/', 'loopback'],
  ])('decide on the URL %s: %s', (text, reason) => {
    const decision = decideUrl(text, []);
    expect(decision).toEqual(reason === undefined ? { allowed: true, url: new URL(text) } : { allowed: false, reason });
  });

  test('allow any port if the operator opened networks, but no other address', () => {
    expect(decideUrl('https://x.example:8443/', ['10.0.0.0/8'])).toMatchObject({ allowed: true });
    expect(decideUrl('https://10.0.0.1:8443/', ['10.0.0.0/8'])).toMatchObject({ allowed: true });
    expect(decideUrl('https://192.168.0.1/', ['10.0.0.0/8'])).toMatchObject({ allowed: false });
  });

  test.each([
    ['localhost', true],
    ['LOCALHOST.', true],
    ['a.localhost', true],
    ['127.9.9.9', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['mylocalhost', false],
    ['localhost.example', false],
    ['10.0.0.1', false],
    ['x.example', false],
  ])('decide whether %s is this machine: %s', (host, expected) => expect(isLoopback(host)).toBe(expected));

  test.each<[string, string[], boolean]>([
    ['fcm.googleapis.com', [], true],
    ['jmt17.google.com', [], true],
    ['FCM.googleapis.com.', [], true],
    ['updates.push.services.mozilla.com', [], true],
    ['web.push.apple.com', [], true],
    ['db5p.notify.windows.com', [], true],
    ['push.apple.com', [], false],
    ['evilpush.apple.com', [], false],
    ['x.fcm.googleapis.com', [], false],
    ['x.example', [], false],
    ['x.example', ['x.example'], true],
    ['y.x.example', ['x.example'], false],
    ['y.x.example', ['*.x.example'], true],
    ['z.y.x.example', ['*.x.example'], true],
    ['yx.example', ['*.x.example'], false],
    ['x.example', ['*'], true],
    ['intranet', ['*'], false],
    ['93.184.216.34', ['*'], false],
    ['2606:2800:220:1::1', ['*'], false],
  ])('decide whether a resolving proxy may get %s with %j listed: %s', (host, hosts, allowed) => {
    if (allowed) expect(() => assertHostAllowed(host, hosts)).not.toThrow();
    else expect(() => assertHostAllowed(host, hosts)).toThrow(HostNotAllowedError);
  });

  describe('the route to a host', () => {
    const proxy = (more: Partial<OutgoingProxy> = {}): OutgoingProxy => ({
      ...{ resolvesNames: false, hosts: [], isFor: ({ host }) => host !== 'direct.example', state: () => 'UNUSED' },
      openTunnel: () => Promise.reject(new Error('not asked for')),
      ...more,
    });
    const resolver = async (host: string) =>
      ({ 'a.example': [{ address: '93.184.216.34' }], 'here.example': [{ address: '127.0.0.1' }] })[host] ?? [
        { address: '10.0.0.1' },
      ];
    const rules = { allowedNetworks: [], resolver };
    const guarded = (host: string) => ({ host, port: 443, isGuarded: true });

    test('is the name for a host that the operator chose, through the proxy if it applies', async () => {
      const through = proxy();
      const own = (host: string) => ({ host, port: 443, isGuarded: false });
      expect(await findRoute(own('10.0.0.1'), rules)).toEqual({ host: '10.0.0.1', proxy: undefined });
      expect(await findRoute(own('b.example'), { ...rules, proxy: through })).toEqual({
        host: 'b.example',
        proxy: through,
      });
      expect(await findRoute(own('direct.example'), { ...rules, proxy: through })).toEqual({
        host: 'direct.example',
        proxy: undefined,
      });
    });

    test('is the checked address for a host that others chose', async () => {
      const through = proxy();
      expect(await findRoute(guarded('a.example'), rules)).toEqual({ host: '93.184.216.34', proxy: undefined });
      expect(await findRoute(guarded('a.example'), { ...rules, proxy: through })).toEqual({
        host: '93.184.216.34',
        proxy: through,
      });
      await expect(findRoute(guarded('b.example'), { ...rules, proxy: through })).rejects.toThrow(AddressBlockedError);
      const opened = { ...rules, allowedNetworks: ['127.0.0.0/8'], proxy: through };
      // This machine is not that of the proxy.
      expect(await findRoute(guarded('here.example'), opened)).toEqual({ host: '127.0.0.1', proxy: undefined });
    });

    test('is the listed name if only the proxy resolves', async () => {
      const through = proxy({ resolvesNames: true, hosts: ['b.example'] });
      expect(await findRoute(guarded('b.example'), { ...rules, proxy: through })).toEqual({
        host: 'b.example',
        proxy: through,
      });
      await expect(findRoute(guarded('a.example'), { ...rules, proxy: through })).rejects.toThrow(HostNotAllowedError);
      await expect(findRoute(guarded('direct.example'), { ...rules, proxy: through })).rejects.toThrow('this address');
    });
  });

  test('require every address of a name to be allowed, use the first, and reject a name without any', async () => {
    const resolve = (addresses: string[]) =>
      resolveAllowedAddress('[x.example]', {
        allowedNetworks: [],
        async resolver(host) {
          expect(host).toBe('x.example');
          return addresses.map((address) => ({ address }));
        },
      });
    expect(await resolve(['93.184.216.34', '93.184.216.35'])).toBe('93.184.216.34');
    for (const mixed of [
      ['93.184.216.34', '10.0.0.1'],
      ['10.0.0.1', '93.184.216.34'],
    ])
      await expect(resolve(mixed)).rejects.toThrow(new AddressBlockedError('this address may not be called'));
    await expect(resolve([])).rejects.toThrow('this host has no address');
  });

  test('end work when its signal aborts, even before it began, and leave no listener behind', async () => {
    const never = new Promise<never>(() => {});
    await expect(before(AbortSignal.abort(new Error('late')), never)).rejects.toThrow('late');
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...given: Parameters<typeof add>) => ((listeners += 1), add(...given));
    signal.removeEventListener = (...given: Parameters<typeof remove>) => ((listeners -= 1), remove(...given));
    expect([await before(signal, Promise.resolve(7)), listeners]).toEqual([7, 0]);
    const waiting = before(signal, never);
    controller.abort(new Error('now'));
    await expect(waiting).rejects.toThrow('now');
  });

  describe('a post', () => {
    type Asked = OutgoingRequest;
    function postTo(open: (request: Asked) => { status: number; body: Readable }, totalMilliseconds?: number) {
      const asked: Asked[] = [];
      const client = {
        async open(request: Asked) {
          asked.push(request);
          return { headers: {}, url: new URL(request.url), ...open(request) };
        },
        close: async () => {},
      };
      const post = {
        url: 'https://x.example',
        headers: { a: 'b' },
        body: 'c',
        ...(totalMilliseconds && { totalMilliseconds }),
      };
      return { asked, outcome: postOnce(client, post) };
    }

    test('is answered by any status, whatever happens to the body', async () => {
      const { asked, outcome } = postTo(() => ({ status: 302, body: Readable.from([Buffer.from('x')]) }));
      expect(await outcome).toEqual({ kind: 'answered', status: 302 });
      expect(asked).toEqual([
        { url: 'https://x.example', method: 'POST', headers: { a: 'b' }, body: 'c', totalMilliseconds: 15_000 },
      ]);
      const broken = new Readable({
        read() {
          this.destroy(new Error('cut'));
        },
      });
      expect(await postTo(() => ({ status: 200, body: broken })).outcome).toEqual({ kind: 'answered', status: 200 });
      expect(postTo(() => ({ status: 200, body: Readable.from([]) }), 7).asked[0]!.totalMilliseconds).toBe(7);
    });

    test('reads at most 64 KiB of a response', async () => {
      let pieces = 0;
      const endless = new Readable({
        highWaterMark: 1,
        read() {
          pieces += 1;
          this.push(Buffer.alloc(16 * 1024));
        },
      });
      await postTo(() => ({ status: 200, body: endless })).outcome;
      expect([endless.destroyed, pieces >= 4, pieces < 8]).toEqual([true, true, true]);
      let ended = false;
      const short = new Readable({
        read() {
          this.push(Buffer.alloc(64 * 1024 - 1));
          this.push(null);
        },
      }).on('end', () => (ended = true));
      await postTo(() => ({ status: 200, body: short })).outcome;
      expect(ended).toBe(true);
    });

    test.each([
      [new OutgoingRefusedError('port'), 'refused'],
      [new AddressBlockedError('x'), 'refused'],
      [new HostNotAllowedError('x'), 'refused'],
      [Object.assign(new Error('x'), { code: 'UND_ERR_HEADERS_TIMEOUT' }), 'timeout'],
      [new DOMException('x', 'TimeoutError'), 'timeout'],
      [new DOMException('x', 'AbortError'), 'unreachable'],
      [Object.assign(new Error('x'), { name: 'TimeoutError' }), 'unreachable'],
      [Object.assign(new Error('x'), { code: 'UND_ERR_CONNECT_TIMEOUT' }), 'unreachable'],
    ])('names its failure: %s', async (error, expected) => {
      const { outcome } = postTo(() => {
        throw error;
      });
      expect(await outcome).toEqual({ kind: 'failed', error: expected });
    });
  });
});

describe('proxy settings', () => {
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
    ])('is parsed: %s', (url, expected) => expect(parse(url)).toMatchObject(expected));

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
      [
        'http://user:CANARY%zz@proxy.example:3128',
        'user and password in which every character except letters and digits is written as %XX',
      ],
      [
        'http://CANARY%zz:x@proxy.example:3128',
        'user and password in which every character except letters and digits is written as %XX',
      ],
    ])('is rejected with the expected form: %s', (url, form) => {
      expect(() => parse(url)).toThrow(ProxySettingsError);
      expect(() => parse(url)).toThrow(expect.objectContaining({ name: 'ProxySettingsError', message: form }));
    });

    test.each([true, false])('keeps the resolver (%s) and the hosts, in lower case', (resolvesNames) => {
      const hosts = ['*.D.example', 'e.example'];
      expect(parseProxySettings({ url: 'http://p.example:1', noProxy: [], resolvesNames, hosts })).toMatchObject({
        resolvesNames,
        hosts: ['*.d.example', 'e.example'],
        bypass: [],
      });
    });
  });

  test('accept a list of excluded hosts with commas, spaces or both', () => {
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
  ])('exclude by CARILLON_NO_PROXY=%s the target %j: %s', (rule, target, expected) => {
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
  ])('allow, if the proxy resolves, %s with %j listed: %s', (host, hosts, expected) => {
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
  ])('decide whether %s is this machine: %s', (host, expected) => expect(isLoopback(host)).toBe(expected));
});
