import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { listReportFiles, openReportFile, requestReportFile } from '../../app/report-files.ts';
import type { ReportFile, ReportFileDependencies } from '../../app/report-files.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxReportDays, maxStatsBodyBytes } from '../../domain/limits/stats.ts';
import { describeOperation } from '../openapi/operation.ts';
import type { Dialect } from '../openapi/operation.ts';
import { codeShape, named } from '../openapi/shapes.ts';
import { readBasic, acrossOf, isBearer } from '../route/auth.ts';
import { toServiceError } from '../route/errors.ts';
import { refuseOtherMethods, makeRequestId } from '../route/route.ts';
import { warnOfUnknownFields } from '../route/warnings.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { parseReport } from './parse-stats.ts';
import {
  statsBody,
  presentStatsError,
  reportFileErrors,
  statsDialect,
  makeRequireStatsAccess,
  readStatsBody,
} from './stats.ts';
import type { StatsRouteDependencies } from './stats.ts';

/* Bodies of report files. They document the fields; parse-stats.ts implements the rules. */
const { offset: _offset, limit: _limit, ...asked } = statsBody.properties;
const reportBody = named(
  'ReportFileRequest',
  Type.Object({
    ...asked,
    end_date: Type.String({ description: 'YYYY-MM-DD, included; at most 90 days after start_date' }),
  }),
);

const name = Type.String({ description: 'JSON lines, one a campaign, compressed with gzip' });
const path = Type.String({ description: 'Where it is read' });
const time = (description: string) => Type.String({ description });

const reportRequestedAnswer = named(
  'ReportFileRequested',
  Type.Object({
    response_id: Type.String(),
    file_name: name,
    path,
    signature: Type.String({
      description:
        'For the header Signature. By the key of the request: SHA-256 of the workspace id, the file name and the key, with a pipe between them, in hexadecimal; with a token: by a secret of its own',
    }),
    expires_at: time('ISO 8601: gone then'),
  }),
);

const reportFile = named(
  'ReportFile',
  Type.Object({
    file_name: name,
    path,
    state: codeShape(['WAITING', 'READY', 'FAILED'], 'Whether it can be read'),
    reason: Type.Optional(Type.String({ description: 'Why it is not made' })),
    campaigns: Type.Optional(Type.Integer({ description: 'Its lines' })),
    size_bytes: Type.Optional(Type.Integer()),
    start_date: Type.String(),
    end_date: Type.String(),
    attribution_type: Type.String(),
    metric_type: Type.String(),
    created_at: time('ISO 8601'),
    expires_at: time('ISO 8601: gone then'),
  }),
);
const reportsAnswer = named('ReportFiles', Type.Object({ report_files: Type.Array(reportFile) }));

const reportParameters = Type.Object({
  app_id: Type.String({ description: 'The workspace id' }),
  file_name: Type.String(),
});

const reportSignature = Type.String({ description: 'As the request of the file was answered' });
const reportBytes = named(
  'ReportFileBytes',
  Type.String({
    format: 'binary',
    description: 'JSON lines, one a campaign, compressed with gzip',
  }),
);

const reportFileError = named(
  'ReportFileError',
  Type.Object({
    error: Type.Object({
      attribute: Type.String(),
      message: Type.String(),
      type: Type.String(),
      request_id: Type.String({ description: 'Eight letters that find this call in the API log' }),
    }),
  }),
);

type ReportRouteDependencies = ReportFileDependencies & StatsRouteDependencies;

const url = '/v1/campaign-reports';

/** Routes for requesting report files, an addition, and for reading them (fact 7). */
export function reportRoutes(deps: ReportRouteDependencies): RouteFamily {
  return async (server) => {
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler((error, request, reply) =>
      presentStatsError(toServiceError(error, request), { request, reply }),
    );
    const scope = server as unknown as FastifyInstance;
    addRequests(scope, deps);
    await scope.register(fileRoutes(deps));
  };
}

function addRequests(server: FastifyInstance, deps: ReportRouteDependencies): void {
  const onRequest = makeRequireStatsAccess(deps);
  const created = describeOperation(statsDialect, {
    operationId: 'requestReportFile',
    summary: 'Have a file made with the statistics of all campaigns of up to 90 days',
    ...{ body: reportBody, isRepeatable: true, answers: { 202: reportRequestedAnswer }, refuses: [409] },
  });
  // The response contains the signature, which grants access to the file.
  const options = { bodyLimit: maxStatsBodyBytes, schema: created, onRequest, config: { isAnswerSecret: true } };
  server.post(url, options, async (request, reply) => {
    const body = readStatsBody(request);
    const { requestId, ...asked } = parseReport(body, maxReportDays);
    warnOfUnknownFields(deps.vendorHeaders, body, { request, reply, shape: reportBody });
    const workspaceId = request.facts.workspaceId!;
    const key = request.headers['idempotency-key'] as string | undefined;
    const made = await requestReportFile(deps, {
      ...{ workspaceId, request: asked, key: request.callerKey!, once: { key, rawBody: request.rawBody } },
      secret: isBearer(request) ? undefined : readBasic(request.headers)?.password,
    });
    return reply.code(202).send({
      ...{ response_id: requestId, file_name: made.name, path: pathOf(workspaceId, made.name) },
      ...{ signature: made.signature, expires_at: made.expiresAt.toISOString() },
    });
  });
  const listed = describeOperation(statsDialect, {
    operationId: 'listReportFiles',
    summary: 'List the report files that are not gone',
    answers: { 200: reportsAnswer },
  });
  server.get(url, { schema: listed, onRequest }, async (request) => {
    const workspaceId = request.facts.workspaceId!;
    const files = await listReportFiles(deps, workspaceId);
    return { report_files: files.map((file) => presentFile(workspaceId, file)) };
  });
  refuseOtherMethods(server, url, ['GET', 'POST']);
}

const fileDialect: Dialect = {
  tag: 'Statistics',
  credentials: [],
  refusals: { errors: reportFileErrors, shape: reportFileError, withoutBody: [401] },
};

const fileUrl = '/campaign_reports/rest_api/:app_id/:file_name';

/** The signature is the credential, so the file is looked up in all workspaces. */
function fileRoutes(deps: ReportRouteDependencies): RouteFamily {
  return async (server) => {
    server.setErrorHandler((error, request, reply) => presentFileError(toServiceError(error, request), reply));
    const schema = describeOperation(fileDialect, {
      operationId: 'readReportFile',
      summary: 'Read a report file',
      params: reportParameters,
      ...{ headers: { Signature: reportSignature }, answers: { 200: reportBytes }, answerType: 'application/gzip' },
      refuses: [401],
    });
    server.get(fileUrl, { schema }, async (request, reply) => {
      const { app_id: workspaceId, file_name: name } = request.params as { app_id: string; file_name: string };
      const signature = request.headers['signature'];
      if (typeof signature !== 'string') throw new ServiceError('REPORT_SIGNATURE_INVALID');
      const { bytes, pieces } = await openReportFile(acrossOf(deps), { workspaceId, name, signature });
      request.facts.workspaceId = workspaceId;
      reply.headers({ 'content-type': 'application/gzip', 'content-length': String(bytes) });
      return reply.send(Readable.from(pieces, { objectMode: false }));
    });
    refuseOtherMethods(server as unknown as FastifyInstance, fileUrl, ['GET']);
  };
}

/** Sends 401 without a body, and every other error in the shape of fact 7. */
function presentFileError(error: ServiceError, reply: FastifyReply): FastifyReply {
  const { status, title } = reportFileErrors[error.code] ?? reportFileErrors.INTERNAL!;
  const { field, reason, retryAfterSeconds } = error.context;
  // RFC 9110 §11.6.1: a 401 names the required scheme.
  if (status === 401) return reply.code(401).header('www-authenticate', 'Signature').send();
  if (status === 405) reply.header('allow', 'GET');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  const told = { attribute: field ?? 'REQUEST', message: reason ?? error.message, type: title.toUpperCase() };
  return reply.code(status).send({ error: { ...told, request_id: makeRequestId() } });
}

function pathOf(workspaceId: string, name: string): string {
  return `/campaign_reports/rest_api/${encodeURIComponent(workspaceId)}/${name}`;
}

function presentFile(workspaceId: string, { name, request, ...file }: ReportFile) {
  return {
    ...{ file_name: name, path: pathOf(workspaceId, name), state: file.state },
    ...(file.reason === null ? {} : { reason: file.reason }),
    ...(file.state === 'READY' ? { campaigns: file.campaigns!, size_bytes: file.bytes! } : {}),
    ...{ start_date: request.startDate, end_date: request.endDate },
    ...{ attribution_type: request.attribution, metric_type: request.metric },
    ...{ created_at: file.createdAt.toISOString(), expires_at: file.expiresAt.toISOString() },
  };
}
