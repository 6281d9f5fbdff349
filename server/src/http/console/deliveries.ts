import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { deliveryOutcomes } from '../../app/deliveries.ts';
import type { ConsoleDeliveries, DeliveryCursor, ListedDelivery } from '../../app/deliveries.ts';
import { platforms } from '../../domain/content/content.ts';
import { calendarDayPattern, instantPattern } from '../../domain/timing/iso-time.ts';
import { consoleApi as api } from './access.ts';
import { presentCsv } from './csv.ts';
import { Id, id, Workspace, workspaceId, workspaceOf } from './requests.ts';
import { Platform, described, orNull } from './shape-parts.ts';

export const DeliveryKey = described(
  Type.Object({
    day: Type.String(),
    bucket: Type.Number(),
    userId: Type.String(),
    runId: Type.String(),
    deviceRowId: Type.String(),
  }),
  'The key of a row in the ledger.',
);

export const LoggedDelivery = Type.Object({
  ...DeliveryKey.properties,
  platform: Platform,
  outcome: Type.String(),
  code: orNull(Type.String()),
  providerMessageId: orNull(Type.String()),
  attempts: Type.Number(),
  at: Type.String(),
  retryAt: described(orNull(Type.String()), 'The time of the next attempt, if the message waits for one.'),
  campaignId: Type.String(),
  campaignName: Type.String(),
  customerId: described(
    orNull(Type.String()),
    'Null if the user was erased. `deviceId` is null if the device was removed.',
  ),
  deviceId: orNull(Type.String()),
});

export const DeliveryPage = Type.Object({
  deliveries: Type.Array(LoggedDelivery),
  next: orNull(Type.String()),
  keptSince: described(orNull(Type.String()), 'The oldest day in the ledger, as YYYY-MM-DD.'),
});

export const ReportedDevice = Type.Object({
  deviceRowId: Type.String(),
  runId: Type.String(),
  platform: Platform,
  action: described(orNull(Type.String()), 'The button that was clicked; null for the message itself.'),
  times: Type.Number({ description: 'The number of reports.' }),
  at: described(Type.String(), 'The time of the first report.'),
  deviceId: described(orNull(Type.String()), 'Null if the device has been removed, or its user erased, since then.'),
  userId: orNull(Type.String()),
  customerId: orNull(Type.String()),
});

export const ReportedDevicePage = Type.Object({
  devices: Type.Array(ReportedDevice),
  next: described(orNull(Type.String()), 'The value of `after` for the next page.'),
});

export const DeliveryDetail = Type.Object({
  ...LoggedDelivery.properties,
  pushId: orNull(Type.String()),
  runStatus: Type.String(),
  sendUntil: Type.String({ description: 'The time after which no attempt is made.' }),
  content: described(
    orNull(Type.Record(Type.String(), Type.Unknown())),
    'The content of the campaign for this platform, before it is personalised.',
  ),
  settings: Type.Record(Type.String(), Type.Unknown()),
  advice: Type.Optional(Type.String()),
});

const filters = {
  workspaceId,
  campaignId: Type.Optional(id),
  customerId: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  platform: Type.Optional(Type.Union(platforms.map((platform) => Type.Literal(platform)))),
  outcome: Type.Optional(Type.Union(deliveryOutcomes.map((outcome) => Type.Literal(outcome)))),
  code: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
};
const Filters = Type.Object(filters);
const Search = Type.Object({
  ...filters,
  after: Type.Optional(
    Type.String({ pattern: `^${calendarDayPattern}(~${instantPattern}~[0-9]{1,15}~[0-9a-f]{24})?$` }),
  ),
});
const Reports = Type.Object({
  workspaceId,
  kind: Type.Union([Type.Literal('IMPRESSION'), Type.Literal('CLICK')]),
  platform: filters.platform,
  after: Type.Optional(Type.String({ pattern: '^[0-9]{1,3}~[0-9a-f]{24}~[0-9a-f]{24}$' })),
});
const Key = Type.Object({
  day: Type.String({ pattern: `^${calendarDayPattern}$` }),
  bucket: Type.String({ pattern: '^[0-9]{1,3}$' }),
  userId: id,
  runId: id,
  deviceRowId: id,
});

/** Routes for the delivery log of the console. */
export function consoleDeliveryRoutes(
  server: FastifyInstance,
  { deliveries }: { deliveries: ConsoleDeliveries },
): void {
  const config = { permission: 'people.read' as const };
  const listing = { schema: { hide: true, querystring: Search, response: { 200: DeliveryPage } }, config };
  server.get(`${api}/deliveries`, listing, async (request) => {
    const { after, ...query } = request.query as Static<typeof Search>;
    const page = await deliveries.list({ ...query, ...(after === undefined ? {} : { after: parseCursor(after) }) });
    return {
      deliveries: page.deliveries,
      next: page.next ? presentCursor(page.next) : null,
      keptSince: page.keptSince ?? null,
    };
  });
  server.get(
    `${api}/campaigns/:id/reports`,
    { schema: { hide: true, querystring: Reports, params: Id, response: { 200: ReportedDevicePage } }, config },
    async (request) => {
      const { after, platform, ...query } = request.query as Static<typeof Reports>;
      const { id: campaignId } = request.params as Static<typeof Id>;
      const position = after === undefined ? undefined : parsePosition(after);
      const { devices, next } = await deliveries.listReports({ ...query, campaignId, platform, after: position });
      return {
        devices: devices.map(({ bucket: _bucket, at, ...device }) => ({ ...device, at: at.toISOString() })),
        next: next ? [next.bucket, next.deviceRowId, next.runId].join('~') : null,
      };
    },
  );
  server.get(
    `${api}/deliveries.csv`,
    { schema: { hide: true, querystring: Filters }, config },
    async (request, reply) => {
      const pages = deliveries.export(request.query as Static<typeof Filters>);
      // An unknown workspace is rejected before the file begins.
      const first = await pages.next();
      return reply
        .header('content-type', 'text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="deliveries.csv"')
        .header('x-content-type-options', 'nosniff')
        .send(Readable.from(presentDeliveryFile(first, pages), { objectMode: false }));
    },
  );
  server.get(
    `${api}/deliveries/:day/:bucket/:userId/:runId/:deviceRowId`,
    {
      schema: {
        hide: true,
        querystring: Workspace,
        params: Key,
        response: { 200: Type.Object({ delivery: DeliveryDetail }) },
      },
      config,
    },
    async (request) => {
      const { bucket, ...key } = request.params as Static<typeof Key>;
      return { delivery: await deliveries.read({ workspaceId: workspaceOf(request), ...key, bucket: Number(bucket) }) };
    },
  );
}

/** The schema has already validated the format. */
function parseCursor(text: string): DeliveryCursor {
  const [of, sentAt, runNumber, deviceId] = text.split('~') as [string, string?, string?, string?];
  if (sentAt === undefined) return { day: of };
  return { day: of, place: { sentAt: new Date(sentAt), runNumber: Number(runNumber), deviceId: deviceId! } };
}

/** The schema has already validated the format. */
function parsePosition(text: string): { bucket: number; deviceRowId: string; runId: string } {
  const [bucket, deviceRowId, runId] = text.split('~') as [string, string, string];
  return { bucket: Number(bucket), deviceRowId, runId };
}

/** Returns the cursor as text for the address; parseCursor parses it. */
function presentCursor({ day, place }: DeliveryCursor): string {
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

/** Yields the lines of the CSV file, page by page. The caller has already read the first page. */
async function* presentDeliveryFile(
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
