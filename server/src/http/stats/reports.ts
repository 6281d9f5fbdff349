import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { listReportFiles, openReportFile, requestReportFile } from '../../app/report-files.ts';
import type { ReportFile, ReportFileDependencies } from '../../app/report-files.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxStatsBodyBytes } from '../../domain/limits/campaigns.ts';
import { codeShape, named } from '../openapi/shapes.ts';
import { readBasic, acrossOf, isBearer } from '../route/auth.ts';
import { addRoutes, makeRequestId, route } from '../route/route.ts';
import type { Route, RouteDialect } from '../route/route.ts';
import type { AnsweredCall } from '../route/warnings.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { parseReport, reportBody } from './parse-stats.ts';
import { reportFileErrors, makeStatsDialect } from './stats.ts';
import type { StatsRouteDependencies } from './stats.ts';

const name = Type.String({ description: 'JSON lines, one per campaign, compressed with gzip' });
const path = Type.String({ description: 'The path for reading the file' });
const time = (description: string) => Type.String({ description });

const reportRequestedAnswer = named(
  'ReportFileRequested',
  Type.Object({
    response_id: Type.String(),
    file_name: name,
    path,
    signature: Type.String({
      description:
        'Value for the header Signature: the hexadecimal SHA-256 of workspace id, file name and key, joined by pipes. A request with a token gets one made with a separate secret',
    }),
    expires_at: time('ISO 8601; the file is deleted then'),
  }),
);

const reportFile = named(
  'ReportFile',
  Type.Object({
    file_name: name,
    path,
    state: codeShape(['WAITING', 'READY', 'FAILED'], 'The state of the file'),
    reason: Type.Optional(Type.String({ description: 'The reason why the file could not be written' })),
    campaigns: Type.Optional(Type.Integer({ description: 'Number of lines' })),
    size_bytes: Type.Optional(Type.Integer()),
    start_date: Type.String(),
    end_date: Type.String(),
    attribution_type: Type.String(),
    metric_type: Type.String(),
    created_at: time('ISO 8601'),
    expires_at: time('ISO 8601; the file is deleted then'),
  }),
);
const reportsAnswer = named('ReportFiles', Type.Object({ report_files: Type.Array(reportFile) }));

const reportParameters = Type.Object({
  app_id: Type.String({ description: 'The workspace id' }),
  file_name: Type.String(),
});

const reportSignature = Type.String({ description: 'The signature that the request for the file returned' });
const reportBytes = named(
  'ReportFileBytes',
  Type.String({
    format: 'binary',
    description: 'JSON lines, one per campaign, compressed with gzip',
  }),
);

const reportFileError = named(
  'ReportFileError',
  Type.Object({
    error: Type.Object({
      attribute: Type.String(),
      message: Type.String(),
      type: Type.String(),
      request_id: Type.String({ description: 'Eight letters that identify this call in the API log' }),
    }),
  }),
);

type ReportRouteDependencies = ReportFileDependencies & StatsRouteDependencies;

/** Routes for requesting report files, an addition, and for reading them (fact 7). */
export function reportRoutes(deps: ReportRouteDependencies): RouteFamily {
  const dialect = makeStatsDialect(deps);
  const url = '/v1/campaign-reports';
  return async (server) =>
    addRoutes(server, [
      route(dialect, {
        method: 'POST',
        url,
        operationId: 'requestReportFile',
        summary: 'Request a file with the statistics of all campaigns of up to 90 days',
        body: reportBody,
        maxBodyBytes: maxStatsBodyBytes,
        isRepeatable: true,
        answers: { 202: reportRequestedAnswer },
        refuses: [409],
        // The response contains the signature, which grants access to the file.
        config: { isAnswerSecret: true },
        read: ({ body }) => parseReport(body),
        async handle({ input: { requestId, ...asked }, workspaceId, key, once, request, warn }) {
          warn();
          const secret = isBearer(request) ? undefined : readBasic(request.headers)?.password;
          const made = await requestReportFile(deps, { workspaceId, request: asked, key, once, secret });
          return {
            ...{ response_id: requestId, file_name: made.name, path: pathOf(workspaceId, made.name) },
            ...{ signature: made.signature, expires_at: made.expiresAt.toISOString() },
          };
        },
      }),
      route(dialect, {
        method: 'GET',
        url,
        operationId: 'listReportFiles',
        summary: 'List the report files that have not expired',
        answers: { 200: reportsAnswer },
        async handle({ workspaceId }) {
          const files = await listReportFiles(deps, workspaceId);
          return { report_files: files.map((file) => presentFile(workspaceId, file)) };
        },
      }),
      readFileRoute(deps),
    ]);
}

/** Adds the route that reads a file. The signature is its only credential, so the file is looked up across workspaces. */
function readFileRoute(deps: ReportRouteDependencies): Route {
  const dialect: RouteDialect = {
    tag: 'Statistics',
    credentials: [],
    refusals: { errors: reportFileErrors, shape: reportFileError, withoutBody: [401] },
    vendorHeaders: deps.vendorHeaders,
    callerOf: () => ({}),
    presentError: presentFileError,
  };
  return route(dialect, {
    method: 'GET',
    url: '/campaign_reports/rest_api/:app_id/:file_name',
    operationId: 'readReportFile',
    summary: 'Read a report file',
    params: reportParameters,
    headers: { Signature: reportSignature },
    answers: { 200: reportBytes },
    answerType: 'application/gzip',
    refuses: [401],
    async handle({ params: { app_id: workspaceId, file_name: name }, request, reply }) {
      const signature = request.headers['signature'];
      if (typeof signature !== 'string') throw new ServiceError('REPORT_SIGNATURE_INVALID');
      const { bytes, pieces } = await openReportFile(acrossOf(deps), { workspaceId, name, signature });
      request.facts.workspaceId = workspaceId;
      reply.headers({ 'content-type': 'application/gzip', 'content-length': String(bytes) });
      return Readable.from(pieces, { objectMode: false });
    },
  });
}

/** Sends 401 without a body, and every other error in the shape of fact 7. */
function presentFileError(error: ServiceError, { reply }: AnsweredCall): FastifyReply {
  const { status, title } = reportFileErrors[error.code] ?? reportFileErrors.INTERNAL!;
  const { field, reason, retryAfterSeconds } = error.context;
  // RFC 9110 §11.6.1: a 401 names the required scheme.
  if (status === 401) return reply.code(401).header('www-authenticate', 'Signature').send();
  if (status === 405) reply.header('allow', 'GET');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  const described = { attribute: field ?? 'REQUEST', message: reason ?? error.message, type: title.toUpperCase() };
  return reply.code(status).send({ error: { ...described, request_id: makeRequestId() } });
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
