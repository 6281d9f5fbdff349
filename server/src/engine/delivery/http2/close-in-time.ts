import type { Socket } from 'node:net';

type Ending = { milliseconds: number; close: () => void };

/** Lets open streams end for so long, then ends the connection under them. */
export async function closeInTime(socket: Socket, { milliseconds, close }: Ending): Promise<void> {
  if (socket.destroyed) return;
  await new Promise<void>((resolve) => {
    const limit = setTimeout(() => socket.destroy(), milliseconds);
    socket.once('close', () => {
      clearTimeout(limit);
      resolve();
    });
    close();
  });
}
