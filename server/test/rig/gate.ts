import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export type Gate = {
  /** Leads to the origin behind. */
  origin: string;
  /** The port is closed and its connections are cut, as when a provider's machine goes down. */
  close(): Promise<void>;
  open(): Promise<void>;
};

/** Passes connections on to a simulated provider. Its port can be closed and opened again. */
export async function startGate(behind: string, host = '127.0.0.1'): Promise<Gate> {
  const target = new URL(behind);
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  let port = 0;
  const open = async (): Promise<void> => {
    server.listen(port, host);
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  };
  await open();
  return {
    origin: `http://${host}:${port}`,
    open,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
