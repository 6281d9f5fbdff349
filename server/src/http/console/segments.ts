import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import { fileTooLarge, postFile, requestFileOperation } from '../../app/segments/file-segments.ts';
import {
  listCallbacks,
  listEmails,
  maxLogged,
  readCallback,
  readEmail,
  readWebhookSecret,
  resendCallback,
  resendEmail,
} from '../../app/segments/messages.ts';
import type { LogQuery, WebhookSecretDependencies } from '../../app/segments/messages.ts';
import type { SegmentDependencies } from '../../app/segments/segment-limits.ts';
import {
  changeSegmentState,
  listRejectedLines,
  listSegmentCampaigns,
  listSegmentMembers,
  listShownSegments,
  readSegment,
} from '../../app/segments/segments.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxFileBytes } from '../../domain/limits/segments.ts';
import { instantPattern } from '../../domain/timing/iso-time.ts';
import type { VendorHeaders } from '../route/vendor-headers.ts';
import { refuseCrossSite } from '../server/call-origin.ts';
import { consoleApi as api } from './access.ts';
import { changeOf, id, Id, keyOf, Workspace, workspaceId, workspaceOf } from './requests.ts';
import {
  presentCallback,
  presentCallbackDetail,
  presentEmail,
  presentEmailDetail,
  presentRejects,
  presentSegment,
  presentSegmentDetail,
  CallbackDetail,
  CallbackPage,
  EmailDetail,
  EmailPage,
  AcceptedUpload,
  CampaignOfSegment,
  SegmentDetail,
  SegmentList,
} from './segment-answers.ts';
import { segmentFilterRoutes } from './segment-filters.ts';
import { FetchBody, parseOperation, parseUpload, UploadQuery, readUpload } from './segment-uploads.ts';

export type ConsoleSegmentRouteDependencies = {
  segments: SegmentDependencies & WebhookSecretDependencies;
  vendorHeaders: Pick<VendorHeaders, 'prefixes'>;
};

const Log = Type.Object({
  workspaceId,
  only: Type.Optional(Type.Literal('failed')),
  segmentId: Type.Optional(id),
  after: Type.Optional(Type.String({ pattern: `^${instantPattern}~[0-9a-f]{24}$` })),
});
const OperationOf = Type.Object({ id, operationId: id });

/** Routes for the console's segments, callbacks and report emails, and for files that are uploaded instead of downloaded. */
export function consoleSegmentRoutes(server: FastifyInstance, deps: ConsoleSegmentRouteDependencies): void {
  const { segments } = deps;
  const schema = { hide: true, querystring: Workspace };
  const reading = { schema, config: { permission: 'overview.read' as const } };
  const Segment = Type.Object({ segment: SegmentDetail });
  const readingOne = { ...reading, schema: { ...schema, params: Id, response: { 200: Segment } } };

  server.get(
    `${api}/segments`,
    { ...reading, schema: { ...schema, response: { 200: SegmentList } } },
    async (request) => {
      const { segments: listed, ...counts } = await listShownSegments(segments, workspaceOf(request));
      return { ...counts, segments: listed.map(presentSegment) };
    },
  );
  server.get(`${api}/segments/:id`, readingOne, async (request) => ({
    segment: presentSegmentDetail(await readSegment(segments, keyOf(request))),
  }));
  server.get(
    `${api}/segments/:id/operations/:operationId/rejects.csv`,
    { ...reading, schema: { ...schema, params: OperationOf } },
    (request, reply) => sendRejects(segments, request, reply),
  );
  // The first read creates the secret, so this is not a read-only call.
  server.get(
    `${api}/webhook-secret`,
    {
      schema: { ...schema, response: { 200: Type.Object({ secret: Type.String() }) } },
      config: { permission: 'keys.write' },
      onRequest: async (request) => refuseCrossSite(request),
    },
    async (request, reply) =>
      reply.header('cache-control', 'no-store').send({
        secret: await readWebhookSecret(segments, changeOf(request)),
      }),
  );
  addMessageLog(server, deps);
  addChanges(server, deps);
  segmentFilterRoutes(server, deps);
  server.register(async (uploads) => serveUploads(uploads, deps));
}

/** Adds the routes of the messages that follow a file operation: callbacks and report emails. */
function addMessageLog(server: FastifyInstance, { segments }: ConsoleSegmentRouteDependencies): void {
  const schema = { hide: true, querystring: Workspace };
  const readingLog = { schema, config: { permission: 'log.read' as const } };
  const Callback = Type.Object({ callback: CallbackDetail });
  const Email = Type.Object({ email: EmailDetail });
  const ofOne = { ...schema, params: Id };
  const listing = (shape: TSchema) => ({
    ...readingLog,
    schema: { hide: true, querystring: Log, response: { 200: shape } },
  });
  server.get(`${api}/callbacks`, listing(CallbackPage), async (request) => {
    const callbacks = await listCallbacks(segments, logQueryOf(request));
    return { callbacks: callbacks.map(presentCallback), next: presentNext(callbacks) };
  });
  server.get(
    `${api}/callbacks/:id`,
    { ...readingLog, schema: { ...ofOne, response: { 200: Callback } } },
    async (request) => ({
      callback: presentCallbackDetail(await readCallback(segments, keyOf(request))),
    }),
  );
  server.post(
    `${api}/callbacks/:id/resend`,
    { schema: { ...ofOne, response: { 202: Callback } }, config: { permission: 'log.resend' } },
    async (request, reply) => {
      const callback = await resendCallback(segments, { ...keyOf(request), actor: request.signedIn });
      return reply.code(202).send({ callback: presentCallbackDetail(callback) });
    },
  );
  server.get(`${api}/mails`, listing(EmailPage), async (request) => {
    const emails = await listEmails(segments, logQueryOf(request));
    return { emails: emails.map(presentEmail), next: presentNext(emails) };
  });
  server.get(
    `${api}/mails/:id`,
    { ...readingLog, schema: { ...ofOne, response: { 200: Email } } },
    async (request) => ({
      email: presentEmailDetail(await readEmail(segments, keyOf(request))),
    }),
  );
  server.post(
    `${api}/mails/:id/resend`,
    { schema: { ...ofOne, response: { 202: Email } }, config: { permission: 'log.resend' } },
    async (request, reply) => {
      const email = await resendEmail(segments, { ...keyOf(request), actor: request.signedIn });
      return reply.code(202).send({ email: presentEmailDetail(email) });
    },
  );
}

function addChanges(server: FastifyInstance, { segments, vendorHeaders }: ConsoleSegmentRouteDependencies): void {
  const schema = { hide: true, querystring: Workspace };
  const config = { permission: 'segments.write' as const };
  const one = { ...schema, params: Id };
  server.post(
    `${api}/segments/fetch`,
    { schema: { ...schema, body: FetchBody, response: { 202: AcceptedUpload } }, config },
    async (request, reply) => {
      const command = parseOperation(request.body as Static<typeof FetchBody>, vendorHeaders.prefixes);
      const accepted = await requestFileOperation(segments, {
        ...{ ...changeOf(request), idempotencyKey: undefined, rawBody: '' },
        command,
      });
      return reply.code(202).send(accepted);
    },
  );
  for (const action of ['archive', 'unarchive'] as const)
    server.post(
      `${api}/segments/:id/${action}`,
      { schema: { ...one, response: { 200: Type.Object({ segment: SegmentDetail }) } }, config },
      async (request) => {
        await changeSegmentState(segments, { ...keyOf(request), actor: request.signedIn, action });
        return { segment: presentSegmentDetail(await readSegment(segments, keyOf(request))) };
      },
    );
  server.get(
    `${api}/segments/:id/campaigns`,
    {
      schema: { ...one, response: { 200: Type.Object({ campaigns: Type.Array(CampaignOfSegment) }) } },
      config: { permission: 'overview.read' },
    },
    async (request) => ({ campaigns: await listSegmentCampaigns(segments, keyOf(request)) }),
  );
  server.get(
    `${api}/segments/:id/members`,
    {
      schema: { ...one, response: { 200: Type.Object({ customerIds: Type.Array(Type.String()) }) } },
      config: { permission: 'people.read' },
    },
    async (request) => ({
      customerIds: await listSegmentMembers(segments, keyOf(request)),
    }),
  );
}

/**
 * Adds the uploads in a separate scope: there the body stays an unread stream until the route, and no other body is
 * accepted.
 */
function serveUploads(server: FastifyInstance, deps: ConsoleSegmentRouteDependencies): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    ['text/csv', 'text/plain', 'application/octet-stream'],
    (_request: FastifyRequest, payload: Readable, done: (error: null, body: Readable) => void) => done(null, payload),
  );
  server.post(
    `${api}/segments/upload`,
    {
      schema: { hide: true, querystring: UploadQuery, response: { 202: AcceptedUpload } },
      config: { permission: 'segments.write' },
    },
    async (request, reply) => {
      const { workspaceId, ...upload } = request.query as Static<typeof UploadQuery>;
      const body = request.body as Readable | undefined;
      if (body === undefined) throw new ServiceError('BODY_EMPTY');
      try {
        // Fastify's bodyLimit does not apply to streams; an upload with an announced size over the limit is rejected before
        // any byte is read.
        if (Number(request.headers['content-length']) > maxFileBytes) throw fileTooLarge();
        const command = parseUpload(upload, deps.vendorHeaders.prefixes);
        const bytes = readUpload(body);
        const accepted = await postFile(deps.segments, { workspaceId, actor: request.signedIn, command, bytes });
        return await reply.code(202).send(accepted);
      } finally {
        // A client that is still sending would not read the response; the server's time limit bounds the wait.
        body.resume();
      }
    },
  );
}

async function sendRejects(
  segments: SegmentDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { id: segmentId, operationId } = request.params as Static<typeof OperationOf>;
  const rejects = await listRejectedLines(segments, { workspaceId: workspaceOf(request), segmentId, operationId });
  return reply
    .header('content-type', 'text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="rejects-${operationId}.csv"`)
    .header('x-content-type-options', 'nosniff')
    .send(presentRejects(rejects));
}

function logQueryOf(request: FastifyRequest): LogQuery {
  const { workspaceId, only, segmentId, after } = request.query as Static<typeof Log>;
  const [createdAt, id] = (after ?? '').split('~') as [string, string];
  const cursor = after === undefined ? undefined : { createdAt: new Date(createdAt), id };
  return { workspaceId, isFailed: only === 'failed', segmentId, after: cursor };
}

/** Returns the cursor after which the next page begins; null if this page was not full. */
function presentNext(rows: readonly { createdAt: Date; id: string }[]): string | null {
  const last = rows.at(-1);
  return last && rows.length === maxLogged ? `${last.createdAt.toISOString()}~${last.id}` : null;
}
