/**
 * Passes connections on to a database on this machine, and delays every piece by half of the given round trip in each direction,
 * as a network does: pieces stay in order, and many are on the way at the same time. Arguments: the port of the database, and the
 * milliseconds of a round trip.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

const [port, roundTrip] = process.argv.slice(2).map(Number) as [number, number];

/** Sockets whose next piece is due, earliest first: the delay is the same for all. */
const onTheWay: { at: number; arrive: () => void }[] = [];
let timer: NodeJS.Timeout | undefined;

function deliverDue(): void {
  timer = undefined;
  const now = performance.now();
  let due = 0;
  while (due < onTheWay.length && onTheWay[due]!.at <= now) onTheWay[due++]!.arrive();
  onTheWay.splice(0, due);
  if (onTheWay.length > 0) timer = setTimeout(deliverDue, Math.max(0, onTheWay[0]!.at - performance.now()));
}

function later(arrive: () => void): void {
  onTheWay.push({ at: performance.now() + roundTrip / 2, arrive });
  timer ??= setTimeout(deliverDue, roundTrip / 2);
}

function pass(from: Socket, to: Socket): void {
  from.setNoDelay(true);
  from.on('data', (piece) => later(() => void to.write(piece)));
  from.on('end', () => later(() => void to.end()));
  from.on('error', () => to.destroy());
}

const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  pass(near, far);
  pass(far, near);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
