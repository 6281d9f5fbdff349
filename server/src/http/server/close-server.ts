import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

export type CloseServer = {
  /** From here on each answer says that its connection ends: who keeps connections opens them elsewhere. Goes on accepting. */
  endConnections(): void;
  /** Takes no new connection, and resolves when every request has been answered, or the limit has passed. */
  close(limit: { maxMilliseconds: number }): Promise<void>;
};

// A caller that connects says something at once; a browser or a proxy that opens ahead may not for a minute.
const maxSilentMilliseconds = 1000;
// The loop takes one connection a turn; a flood of them must not hold the stop.
const maxAcceptingMilliseconds = 500;
const quietMilliseconds = 0.2;

/**
 * Makes the stop of a server that does not listen yet. Whoever is connected is answered: connections that wait to be accepted
 * are taken before the port is given up, because that resets them, and a proxy repeats no POST that it has sent. Node ends the
 * connections that wait for a further request when it begins to close, and two kinds it does not: those on which nothing was
 * said, which browsers and proxies open ahead, and those whose response was under way. What is not whole or not answered by
 * the limit is cut off: Node, once it closes, no longer looks for requests that take too long, and one client that sends half
 * a head would hold the stop of the node.
 */
export function makeCloseServer(server: FastifyInstance): CloseServer {
  const { server: listener } = server;
  /** With the time since which it is open. */
  const open = new Map<Socket, number>();
  /** In the order in which they will be sent: a client may ask again before it is answered. */
  const answering = new Map<Socket, ServerResponse[]>();
  let accepted = 0;
  let isEnding = false;
  let isClosing = false;
  const follow = (socket: Socket): void => {
    open.set(socket, performance.now());
    socket.once('close', () => open.delete(socket));
  };
  listener.on('connection', (socket: Socket) => {
    accepted += 1;
    follow(socket);
  });
  // Over TLS a connection is followed twice: what comes before the handshake is said on the one below.
  listener.on('secureConnection', follow);
  // Before the one that answers: the head says whether the connection is kept.
  listener.prependListener('request', ({ socket }, response: ServerResponse) => {
    const responses = answering.get(socket) ?? [];
    // Node ends the connection behind the first that keeps it no longer, and with it those that were to follow.
    if (isEnding && responses.length > 0) responses.at(-1)!.shouldKeepAlive = true;
    if (isEnding) response.shouldKeepAlive = false;
    answering.set(socket, [...responses, response]);
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

  function endConnections(): void {
    isEnding = true;
    for (const responses of answering.values()) responses.at(-1)!.shouldKeepAlive = false;
  }

  /** Ends with a turn of the loop in which nobody came, and so short that hardly anybody can have come since it looked. */
  async function takeWaiting(): Promise<void> {
    const end = performance.now() + maxAcceptingMilliseconds;
    for (let turnedAt = performance.now(); turnedAt < end;) {
      const before = accepted;
      // The first may be of a turn that has looked already.
      await setImmediate();
      const lookedAt = performance.now();
      await setImmediate();
      turnedAt = performance.now();
      if (accepted === before && turnedAt - lookedAt < quietMilliseconds) return;
    }
  }

  /** Until all are closed: a handshake may end, and silence begin, at any time. */
  async function endSilent(): Promise<void> {
    while (open.size > 0) {
      const latest = performance.now() - maxSilentMilliseconds;
      for (const [socket, openedAt] of open) if (socket.bytesRead === 0 && openedAt <= latest) socket.destroy();
      await wait(10);
    }
  }

  return {
    endConnections,
    async close({ maxMilliseconds }) {
      const limit = setTimeout(() => {
        listener.closeAllConnections();
        // Node does not know those that have not ended their handshake.
        for (const socket of open.keys()) socket.destroy();
      }, maxMilliseconds);
      try {
        endConnections();
        await takeWaiting();
        isClosing = true;
        const ended = once(listener, 'close');
        // In the turn in which nobody waited: Fastify gives the port up some turns later.
        listener.close();
        await Promise.all([ended, server.close(), endSilent()]);
      } finally {
        clearTimeout(limit);
      }
    },
  };
}
