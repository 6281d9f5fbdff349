import { ServiceError } from '../../domain/errors.ts';
import type { InteractionKind } from '../../domain/events/interactions.ts';
import type { InteractionReports } from '../interactions.ts';
import type { Installations, NamedInstallation } from './installations.ts';

/** What became of a message on the device, under an id that the app made. */
export type Receipt = { id: string; token: string; type: 'shown' | 'clicked' | 'dismissed'; action?: string };

export type ReceiptsCommand = NamedInstallation & { receipts: readonly Receipt[]; address: string };

export type ReceiptsResult = { accepted: number; refused: { id: string; reason: string }[] };

const kinds: Record<Receipt['type'], InteractionKind> = { shown: 'impression', clicked: 'click', dismissed: 'close' };

/**
 * Receives what an app reports about messages. The token of each message is its credential, as in single reports; one that
 * is not known is refused and does not hold back the others.
 */
export function makeReceipts({
  installations,
  interactions,
}: {
  installations: Pick<Installations, 'prove'>;
  interactions: Pick<InteractionReports, 'report'>;
}) {
  return async ({ receipts, address, ...named }: ReceiptsCommand): Promise<ReceiptsResult> => {
    await installations.prove(named);
    const refused: ReceiptsResult['refused'] = [];
    for (const { id, token, type, action } of receipts) {
      const report = { token, kind: kinds[type], reportId: id, address, ...(action === undefined ? {} : { action }) };
      try {
        await interactions.report(report);
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'INTERACTION_TOKEN_UNKNOWN') throw error;
        refused.push({ id, reason: 'the token is not known' });
      }
    }
    return { accepted: receipts.length - refused.length, refused };
  };
}

export type AcceptReceipts = ReturnType<typeof makeReceipts>;
