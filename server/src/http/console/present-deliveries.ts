import type { DeliveryCursor, ListedDelivery } from '../../app/console/console-deliveries.ts';
import { presentCsv } from './present-csv.ts';

/** A text for the address; parseCursor of the routes reads it. */
export function presentCursor({ day, place }: DeliveryCursor): string {
  return place ? [day, place.sentAt.toISOString(), place.runNumber, place.deviceId].join('~') : day;
}

const columns = [
  ['at', ({ at }) => at.toISOString()],
  ['campaign_id', ({ campaignId }) => campaignId],
  ['campaign', ({ campaignName }) => campaignName],
  ['run_id', ({ runId }) => runId],
  ['customer_id', ({ customerId }) => customerId ?? ''],
  ['device_id', ({ deviceId }) => deviceId ?? ''],
  ['platform', ({ platform }) => platform],
  ['outcome', ({ outcome }) => outcome],
  ['code', ({ code }) => code ?? ''],
  ['attempts', ({ attempts }) => String(attempts)],
  ['provider_message_id', ({ providerMessageId }) => providerMessageId ?? ''],
] as const satisfies [string, (row: ListedDelivery) => string][];

/** A file of the log, page by page; the first one is read already. */
export async function* presentDeliveryFile(
  first: IteratorResult<ListedDelivery[]>,
  pages: AsyncGenerator<ListedDelivery[]>,
): AsyncGenerator<string> {
  const toLines = (rows: ListedDelivery[]): string =>
    presentCsv(rows.map((row) => columns.map(([, read]) => read(row))));
  yield presentCsv([columns.map(([name]) => name)]);
  if (first.done === true) return;
  yield toLines(first.value);
  for await (const rows of pages) yield toLines(rows);
}
