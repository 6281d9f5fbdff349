import type { FastifyInstance } from 'fastify';

/**
 * Takes no new connection, and resolves when every request has been answered. What is not whole or not answered by then is
 * cut off: Node, once it closes, no longer looks for requests that take too long, and one client that sends half a
 * head would hold the stop of the node.
 */
export async function closeServer(
  server: FastifyInstance,
  { maxMilliseconds }: { maxMilliseconds: number },
): Promise<void> {
  const limit = setTimeout(() => server.server.closeAllConnections(), maxMilliseconds);
  try {
    await server.close();
  } finally {
    clearTimeout(limit);
  }
}
