import { createServer, request as forward } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A network between an app and the node: it can be cut, loses a reply on request, and records what the app asked for. */
export async function startNetwork(target: string) {
  const requests: string[] = [];
  const installations = new Set<string>();
  const lost = new Set<string>();
  let isOffline = false;

  const server = createServer((request, response) => {
    if (isOffline) return void request.socket.destroy();
    void readAll(request).then((body) => pass(request, response, body));
  });

  function pass(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const path = request.url ?? '/';
    requests.push(path);
    const { installation_id: id } = (body.length > 0 ? JSON.parse(body.toString()) : {}) as {
      installation_id?: string;
    };
    if (id !== undefined) installations.add(id);
    const { method, headers } = request;
    const sent = forward(`${target}${path}`, { method: method!, headers }, (reply) => {
      void readAll(reply).then((text) => {
        if (lost.delete(path)) return void request.socket.destroy();
        response.writeHead(reply.statusCode!, reply.headers).end(text);
      });
    });
    sent.on('error', () => request.socket.destroy());
    sent.end(body);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    installations,
    goOffline: () => void (isOffline = true),
    goOnline: () => void (isOffline = false),
    /** The node gets the next request of the path, but the app never gets the reply. */
    loseNextReply: (path: string) => void lost.add(path),
    stop: () => new Promise<void>((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
