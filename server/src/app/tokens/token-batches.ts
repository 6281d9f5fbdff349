import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { findLimitWindows } from '../../storage/limits/limit-windows.ts';
import type { LimitSubject } from '../../storage/limits/limit-windows.ts';
import { lookUpBatches, makeWorkTogether, requestBatches } from '../push/work-together.ts';
import { proveClients } from './prove-clients.ts';
import type { ClientOperation, PresentedClient, ProvenClient } from './prove-clients.ts';

export type TokenBatches = {
  /** Resolves when the tokens, if it asks for some, are durable. */
  proveClient: Record<ClientOperation, (client: PresentedClient) => Promise<ProvenClient>>;
  /** As `findLimitWindows`. */
  findWindows(subjects: readonly LimitSubject[]): Promise<Date[][]>;
};

/** What token requests that come at the same time store and look for together. */
export function makeTokenBatches(deps: { database: Database; clock: Clock }): TokenBatches {
  const { database } = deps;
  const makeProveClient = (operation: ClientOperation) =>
    makeWorkTogether((clients: PresentedClient[]) => proveClients(deps, { operation, clients }), requestBatches);
  return {
    proveClient: { token: makeProveClient('token'), revoke: makeProveClient('revoke') },
    findWindows: makeWorkTogether(async (asks: (readonly LimitSubject[])[]) => {
      const found = await findLimitWindows(database, asks.flat());
      let place = 0;
      return asks.map(({ length }) => found.slice(place, (place += length)));
    }, lookUpBatches),
  };
}
