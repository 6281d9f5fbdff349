import { acceptStream, settleStream } from './connection-state.ts';
import type { ConnectionState } from './connection-state.ts';
import { isAccepted, isSuccess, lost, toAnswer } from './stream-answers.ts';

/** The answer is complete. */
export function endStream(connection: ConnectionState, slot: number): void {
  if (isAccepted(connection, slot)) acceptStream(connection, slot);
  else settleStream(connection, slot, toAnswer(connection, slot));
}

/**
 * The stream broke off. A 2xx status is conclusive without the body; any other answer is treated as missing, because its
 * body would decide.
 */
export function breakStream(connection: ConnectionState, slot: number, detail: string): void {
  if (isSuccess(connection.streams.statuses[slot]!)) endStream(connection, slot);
  else settleStream(connection, slot, lost(detail));
}
