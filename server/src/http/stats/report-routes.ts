import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { listReportFiles, openReportFile, requestReportFile } from '../../app/stats/report-files.ts';
import type { ReportFile, ReportFileDependencies } from '../../app/stats/report-files.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxReportDays, maxStatsBodyBytes } from '../../domain/stats/limits.ts';
import { readBasic } from '../auth/basic.ts';
import { acrossOf, isBearer } from '../auth/bearer.ts';
import type { RouteFamily } from '../build-server.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import type { Dialect } from '../openapi/describe-operation.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { makeRequestId } from '../request-id.ts';
import { toServiceError } from '../to-service-error.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import { parseReport } from './parse-stats.ts';
import { presentStatsError, reportFileErrors } from './present.ts';
import {
  reportBody,
  reportBytes,
  reportFileError,
  reportParameters,
  reportRequestedAnswer,
  reportSignature,
  reportsAnswer,
} from './report-shapes.ts';
import { statsDialect } from './routes.ts';
import { makeRequireStatsAccess, readStatsBody } from './stats-access.ts';
import type { StatsRouteDependencies } from './stats-access.ts';

type ReportRouteDependencies = ReportFileDependencies & StatsRouteDependencies;

const url = '/v1/campaign-reports';

/** Asking for report files, an addition; and reading them (fact 7). */
export function reportRoutes(deps: ReportRouteDependencies): RouteFamily {
  return async (server) => {
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler((error, request, reply) =>
      presentStatsError(toServiceError(error, request), { request, reply }),
    );
    const scope = server as unknown as FastifyInstance;
    addRequests(scope, deps);
    addFile(scope, deps);
  };
}

function addRequests(server: FastifyInstance, deps: ReportRouteDependencies): void {
  const onRequest = makeRequireStatsAccess(deps);
  const created = describeOperation(statsDialect, {
    operationId: 'requestReportFile',
    summary: 'Have a file made with the statistics of all campaigns of up to 90 days',
    ...{ body: reportBody, isRepeatable: true, answers: { 202: reportRequestedAnswer }, refuses: [409] },
  });
  // The signature opens the file.
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

/** The signature is the credential, so the file is looked for in all workspaces. */
function addFile(server: FastifyInstance, deps: ReportRouteDependencies): void {
  const errorHandler = (error: Error, request: FastifyRequest, reply: FastifyReply) =>
    presentFileError(error, { request, reply });
  const schema = describeOperation(fileDialect, {
    operationId: 'readReportFile',
    summary: 'Read a report file',
    params: reportParameters,
    ...{ headers: { Signature: reportSignature }, answers: { 200: reportBytes }, answerType: 'application/gzip' },
    refuses: [401],
  });
  server.get(fileUrl, { schema, errorHandler }, async (request, reply) => {
    const { app_id: workspaceId, file_name: name } = request.params as { app_id: string; file_name: string };
    const signature = request.headers['signature'];
    if (typeof signature !== 'string') throw new ServiceError('REPORT_SIGNATURE_INVALID');
    const { bytes, pieces } = await openReportFile(acrossOf(deps), { workspaceId, name, signature });
    request.facts.workspaceId = workspaceId;
    reply.headers({ 'content-type': 'application/gzip', 'content-length': String(bytes) });
    return reply.send(Readable.from(pieces, { objectMode: false }));
  });
  refuseOtherMethods(server, fileUrl, ['GET']);
}

/** 400 with the words of fact 7, 401 with nothing; all else as the statistics say it. */
function presentFileError(error: Error, { request, reply }: { request: FastifyRequest; reply: FastifyReply }) {
  const fault = toServiceError(error, request);
  // RFC 9110 §11.6.1: a 401 names what is asked for.
  if (fault.code === 'REPORT_SIGNATURE_INVALID') return reply.code(401).header('www-authenticate', 'Signature').send();
  if (fault.code !== 'REPORT_FILE_UNREADABLE') return presentStatsError(fault, { request, reply });
  const { field = 'FILENAME', reason = '' } = fault.context;
  const told = { attribute: field, message: reason, type: 'BAD REQUEST', request_id: makeRequestId() };
  return reply.code(400).send({ error: told });
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
