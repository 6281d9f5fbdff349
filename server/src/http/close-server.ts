import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Makes the stop of a server that does not listen yet. It takes no new connection, and resolves when every request has been
 * answered. Node ends the connections that wait for a further request when it begins to close, and two kinds it does not: those
 * on which nothing was said, which browsers and proxies open ahead, and those whose response was under way. What is not whole
 * or not answered by the limit is cut off: Node, once it closes, no longer looks for requests that take too long, and one
 * client that sends half a head would hold the stop of the node.
 */
export function makeCloseServer(server: FastifyInstance): (limit: { maxMilliseconds: number }) => Promise<void> {
  const open = new Set<Socket>();
  /** In the order in which they will be sent: a client may ask again before it is answered. */
  const answering = new Map<Socket, ServerResponse[]>();
  let isClosing = false;
  server.server.on('connection', (socket) => {
    if (isClosing) socket.destroy();
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.server.on('request', ({ socket }, response: ServerResponse) => {
    const responses = answering.get(socket);
    if (responses) responses.push(response);
    else answering.set(socket, [response]);
    response.once('close', () => {
      const left = answering.get(socket)!.filter((other) => other !== response);
      if (left.length > 0) answering.set(socket, left);
      else {
        answering.delete(socket);
        // Its head may have promised to keep it.
        if (isClosing) socket.end();
      }
    });
  });
  return async ({ maxMilliseconds }) => {
    const limit = setTimeout(() => server.server.closeAllConnections(), maxMilliseconds);
    isClosing = true;
    try {
      const closed = server.close();
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
      // Node ends the connection behind the first that keeps it no longer, and with it those that were to follow.
      for (const responses of answering.values()) responses.at(-1)!.shouldKeepAlive = false;
      await closed;
    } finally {
      clearTimeout(limit);
    }
  };
}
