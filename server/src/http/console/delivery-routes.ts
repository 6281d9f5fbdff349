import type { FastifyInstance } from 'fastify';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { deliveryOutcomes } from '../../app/console/console-deliveries.ts';
import type { ConsoleDeliveries, DeliveryCursor } from '../../app/console/console-deliveries.ts';
import { platforms } from '../../domain/campaigns/content.ts';
import { calendarDayPattern, instantPattern } from '../../domain/segments/iso-time.ts';
import { consoleApi as api } from './console-access.ts';
import { presentCursor, presentDeliveryFile } from './present-deliveries.ts';
import { DeliveryDetail, DeliveryPage, ReportedDevicePage } from './delivery-shapes.ts';

const workspaceId = Type.String({ maxLength: 64 });
const id = Type.String({ pattern: '^[0-9a-f]{24}$' });
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
const Workspace = Type.Object({ workspaceId });
const Id = Type.Object({ id });
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

/** The delivery log of the console. */
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
      const place = after === undefined ? undefined : parsePlace(after);
      const { devices, next } = await deliveries.listReports({ ...query, campaignId, platform, after: place });
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
      // A workspace that is not there is refused before the file begins.
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
      const query = request.query as Static<typeof Workspace>;
      return { delivery: await deliveries.read({ ...query, ...key, bucket: Number(bucket) }) };
    },
  );
}

/** The shape is checked before. */
function parseCursor(text: string): DeliveryCursor {
  const [of, sentAt, runNumber, deviceId] = text.split('~') as [string, string?, string?, string?];
  if (sentAt === undefined) return { day: of };
  return { day: of, place: { sentAt: new Date(sentAt), runNumber: Number(runNumber), deviceId: deviceId! } };
}

/** The shape is checked before. */
function parsePlace(text: string): { bucket: number; deviceRowId: string; runId: string } {
  const [bucket, deviceRowId, runId] = text.split('~') as [string, string, string];
  return { bucket: Number(bucket), deviceRowId, runId };
}
