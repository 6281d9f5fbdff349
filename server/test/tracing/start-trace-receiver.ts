import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ReceivedSpan = {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  attributes: Record<string, string | number>;
  links: { traceId: string; spanId: string }[];
  status: { code?: number };
};

type Wire = { key: string; value: { stringValue?: string; intValue?: number } }[];
type WireSpan = Omit<ReceivedSpan, 'attributes' | 'links'> & { attributes: Wire; links?: ReceivedSpan['links'] };
type Body = { resourceSpans: { resource: { attributes: Wire }; scopeSpans: { spans: WireSpan[] }[] }[] };

const read = (wire: Wire) =>
  Object.fromEntries(wire.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']));

/** A collector of OTLP over HTTP, as far as spans in JSON go. */
export async function startTraceReceiver() {
  const spans: ReceivedSpan[] = [];
  const resources: Record<string, string | number>[] = [];
  const paths: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      paths.push(`${request.method} ${request.url}`);
      for (const { resource, scopeSpans } of (JSON.parse(text) as Body).resourceSpans) {
        resources.push(read(resource.attributes));
        for (const span of scopeSpans.flatMap((scope) => scope.spans))
          spans.push({ ...span, attributes: read(span.attributes), links: span.links ?? [] });
      }
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans, resources, paths, close: () => server.close() };
}
