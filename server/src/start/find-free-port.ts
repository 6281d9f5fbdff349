import { createServer } from 'node:net';

const tries = 20;

/** The next port above that nobody listens on; undefined when there is none near it. */
export async function findFreePort({ host, above }: { host: string; above: number }): Promise<number | undefined> {
  for (let port = above + 1; port <= Math.min(65_535, above + tries); port += 1)
    if (await isFree({ host, port })) return port;
  return undefined;
}

function isFree(at: { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(at, () => server.close(() => resolve(true)));
  });
}
