import type { Queryable, Transaction } from './database.ts';
import { openListener } from './postgres/listener.ts';
import type { Listener, ListenerOptions } from './postgres/listener.ts';
import { writeStatement } from './postgres/statement.ts';

export type { Listener, ListenerTimes } from './postgres/listener.ts';

/** Channels belong to a database, so two installations on one server do not receive each other's notifications. */
const channel = 'carillon';

/** The maximum number of connections that a node listens with. */
export const listeningConnections = 1;

/** Opens a node's session that receives every notification. @throws as openListener */
export function listen(options: Omit<ListenerOptions, 'channel' | 'name'>): Promise<Listener> {
  return openListener({ ...options, channel, name: 'carillon doorbell' });
}

/**
 * Notifies every listening session. Not for transactions. Their commits would wait for each other, since PostgreSQL
 * holds one lock of the whole server from the notification to the end of the commit, including its write to the disk.
 * They would also fail while the queue of notifications is full. Alone, a notification waits for no disk.
 *
 * @param payload under 8,000 bytes
 */
export async function notify(database: Queryable, payload: string): Promise<void> {
  await notification(database, payload);
}

/**
 * Notifies every listening session once this transaction has committed, in a separate transaction. If the process or
 * the connection ends in between, no session is notified. The same payload is sent once.
 */
export function notifyAfterCommit(tx: Transaction, payload: string): void {
  tx.afterwards.set(payload, writeStatement(notification(tx, payload)));
}

const notification = (on: Queryable, payload: string) => on`select pg_notify(${channel}, ${payload})`;
