import type { Socket } from 'node:net';

/** Calls `tell` with each complete line; an incomplete line at the end is ignored. */
export function readLines(socket: Socket, tell: (line: string) => void): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (piece: string) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    for (const line of lines) tell(line);
  });
}
