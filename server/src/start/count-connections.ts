import { workerSessions } from '../engine/start-worker.ts';
import { listeningConnections } from '../storage/notifications.ts';
import type { Config } from './config.ts';

/**
 * Most connections that a node with these settings opens to the database itself, all its pools full. Behind a pooler in
 * transaction mode those of its statements are the pooler's to limit; what is left is the doorbell's and those of the
 * segment files it reads. One that is posted takes another for as long as it is received.
 */
export function countConnections({
  role,
  databaseConnections,
  databasePooler,
}: Pick<Config, 'role' | 'databaseConnections' | 'databasePooler'>): number {
  const ofDoorbell = role === 'api' ? 0 : listeningConnections;
  const ofFiles = role === 'api' ? 0 : workerSessions;
  return ofDoorbell + (databasePooler === 'transaction' ? ofFiles : databaseConnections);
}
