import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

export type CloseServer = {
  /**
   * From now on, each response announces that its connection closes, so clients open new connections elsewhere. Still
   * accepts connections.
   */
  endConnections(): void;
  /** Accepts no new connection, and resolves when every request has its response, or when the limit has passed. */
  close(limit: { maxMilliseconds: number }): Promise<void>;
};

// A client that connects sends data at once; a browser or a proxy that opens connections in advance may send nothing for a
// minute.
const maxSilentMilliseconds = 1000;
// The event loop accepts one connection per turn; a flood of them must not delay the stop.
const maxAcceptingMilliseconds = 500;
const quietMilliseconds = 0.2;

/**
 * Makes the stop of a server that does not listen yet. Every connected client gets its response: connections waiting to be
 * accepted are accepted before the port is closed, because closing resets them, and a proxy does not repeat a POST that it
 * has sent. When the port is closed, the connections that wait for a further request end, but not two other kinds:
 * connections without any data, which browsers and proxies open in advance, and connections whose response is in progress.
 * Requests that are incomplete or without a response at the limit are cut off: once Node closes, it no longer checks for
 * requests that take too long, and one client that sends half a head would block the stop of the node.
 */
export function makeCloseServer(server: FastifyInstance): CloseServer {
  const { server: listener } = server;
  const connections = trackConnections(listener);
  /** The responses of each connection in the order of sending: a client may send the next request before it gets a response. */
  const answering = new Map<Socket, ServerResponse[]>();
  /** The bytes that had arrived on a connection when its last request and response were over. */
  const bytesAtEnd = new WeakMap<Socket, number>();
  let isEnding = false;
  let isClosing = false;
  // Node's own, from version 26 on, also ends connections without any data, whose first request may be on its way.
  listener.closeIdleConnections = () => {
    for (const socket of connections.list())
      if (!answering.has(socket) && bytesAtEnd.get(socket) === socket.bytesRead) socket.destroy();
  };
  // Runs before the request handler: the head announces whether the connection is kept.
  listener.prependListener('request', (request, response: ServerResponse) => {
    const { socket } = request;
    // The end of a body may arrive after the response.
    request.once('close', () => bytesAtEnd.set(socket, socket.bytesRead));
    const responses = answering.get(socket) ?? [];
    // Node ends a connection after the first response that does not keep it, and would drop the responses that follow.
    if (isEnding && responses.length > 0) responses.at(-1)!.shouldKeepAlive = true;
    if (isEnding) response.shouldKeepAlive = false;
    answering.set(socket, [...responses, response]);
    response.once('close', () => {
      const left = answering.get(socket)!.filter((other) => other !== response);
      if (left.length > 0) answering.set(socket, left);
      else {
        answering.delete(socket);
        bytesAtEnd.set(socket, socket.bytesRead);
        // The head may have promised to keep the connection.
        if (isClosing) socket.end();
      }
    });
  });

  function endConnections(): void {
    isEnding = true;
    for (const responses of answering.values()) responses.at(-1)!.shouldKeepAlive = false;
  }

  return {
    endConnections,
    async close({ maxMilliseconds }) {
      const limit = setTimeout(() => {
        listener.closeAllConnections();
        connections.destroyAll();
      }, maxMilliseconds);
      try {
        endConnections();
        await connections.acceptWaiting();
        isClosing = true;
        const ended = once(listener, 'close');
        // In the same turn in which no connection waited: Fastify closes the port some turns later.
        listener.close();
        await Promise.all([ended, server.close(), connections.endSilent()]);
      } finally {
        clearTimeout(limit);
      }
    },
  };
}

/** Tracks the open connections of a server, also those that have not finished their handshake, which Node does not track. */
function trackConnections(listener: FastifyInstance['server']) {
  /** The open connections and when they were opened. */
  const open = new Map<Socket, number>();
  let accepted = 0;
  const follow = (socket: Socket): void => {
    open.set(socket, performance.now());
    socket.once('close', () => open.delete(socket));
  };
  listener.on('connection', (socket: Socket) => {
    accepted += 1;
    follow(socket);
  });
  // Over TLS a connection is tracked twice: bytes before the handshake ends arrive on the underlying socket.
  listener.on('secureConnection', follow);

  return {
    list: (): Iterable<Socket> => open.keys(),

    destroyAll(): void {
      for (const socket of open.keys()) socket.destroy();
    },

    /** Resolves after a turn of the loop without a new connection, so short that hardly any client can have connected since. */
    async acceptWaiting(): Promise<void> {
      const end = performance.now() + maxAcceptingMilliseconds;
      for (let turnedAt = performance.now(); turnedAt < end;) {
        const before = accepted;
        // The first turn may already have checked for connections.
        await setImmediate();
        const lookedAt = performance.now();
        await setImmediate();
        turnedAt = performance.now();
        if (accepted === before && turnedAt - lookedAt < quietMilliseconds) return;
      }
    },

    /** Runs until all connections are closed: a handshake may end, and silence begin, at any time. */
    async endSilent(): Promise<void> {
      while (open.size > 0) {
        const latest = performance.now() - maxSilentMilliseconds;
        for (const [socket, openedAt] of open) if (socket.bytesRead === 0 && openedAt <= latest) socket.destroy();
        await wait(10);
      }
    },
  };
}
