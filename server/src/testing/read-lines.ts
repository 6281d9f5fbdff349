import type { Socket } from 'node:net';

/** Tells each whole line that comes; what is left at the end is none. */
export function readLines(socket: Socket, tell: (line: string) => void): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (piece: string) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    for (const line of lines) tell(line);
  });
}
