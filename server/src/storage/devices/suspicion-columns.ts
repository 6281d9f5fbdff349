import type { Suspicion } from '../../domain/devices/suspicion.ts';
import type { Fragment, Queryable } from '../database.ts';

/** What a device is suspected of, as its row has it: four columns, all of them null where it is not. */
export type SuspicionColumns = {
  suspectedCode: string | null;
  suspectedSends: number | null;
  suspectedSince: Date | null;
  suspectedAt: Date | null;
};

export const suspicionColumns = (tx: Queryable): Fragment => tx`
  devices.suspected_code as "suspectedCode", devices.suspected_sends as "suspectedSends",
  devices.suspected_since as "suspectedSince", devices.suspected_at as "suspectedAt"`;

/** A row with its suspicion as one member. */
export function withSuspicion<Row extends SuspicionColumns>(
  row: Row,
): Omit<Row, keyof SuspicionColumns> & { suspicion: Suspicion | null } {
  const { suspectedCode: code, suspectedSends: sends, suspectedSince: since, suspectedAt: lastAt, ...others } = row;
  const suspicion = code === null ? null : { code, sends: sends!, since: since!, lastAt: lastAt! };
  return { ...others, suspicion };
}
