import { describe, expect, onTestFinished, test } from 'vitest';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import { makeOutgoingProxy, parseProxySettings } from '../../../../src/outgoing/proxy.ts';
import { makeLog } from '../../../../src/log.ts';
import { http2Clients } from '../delivery-bundle.ts';

// A label has at most 63 characters (RFC 1035 §2.3.4), so that no resolver has to be asked.
const nowhere = `${'x'.repeat(70)}.example`;
const log = makeLog({ level: 'silent', pretty: false });

describe.each(http2Clients)('the HTTP/2 client %s', (client) => {
  function makeSender({ proxyUrl }: { proxyUrl?: string } = {}) {
    const settings = proxyUrl && parseProxySettings({ url: proxyUrl, noProxy: [], resolvesNames: false, hosts: [] });
    const proxy = settings ? makeOutgoingProxy(settings, log) : undefined;
    const transport = makeHttp2Transport({ log, allowedNetworks: [], client, connectMilliseconds: 5_000, proxy });
    onTestFinished(() => transport.close());
    return (target: { origin: string; isGuarded: boolean }) =>
      transport.request({ key: target.origin, ...target }, { path: '/p', headers: {}, body: Buffer.from('x') });
  }

  test.each([
    ['a guarded host', 'https', true],
    ['a provider', 'https', false],
    ['a provider without TLS', 'http', false],
  ])('reports that the host name does not exist: %s', async (_what, scheme, isGuarded) => {
    const answer = await makeSender()({ origin: `${scheme}://${nowhere}`, isGuarded });
    expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent', reason: 'unresolved' });
  });

  test('reports an unreachable proxy if the name of the proxy does not exist', async () => {
    const send = makeSender({ proxyUrl: `http://${nowhere}:3128` });
    expect(await send({ origin: 'https://provider.example', isGuarded: false })).toMatchObject({
      ...{ kind: 'failure', certainty: 'unsent', reason: 'proxy-unreachable' },
    });
  });
});
