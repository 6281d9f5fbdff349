import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { exportAudit, listAudit } from '../../app/accounts/audit.ts';
import type { ConsoleAccountDependencies, AuditEntry as Line } from '../../app/accounts/audit.ts';
import { instantPattern } from '../../domain/timing/iso-time.ts';
import { consoleApi as api } from './access.ts';
import { AuditEntry } from './accounts.ts';
import { presentCsv } from './csv.ts';
import { id, workspaceId } from './requests.ts';

const instant = `^${instantPattern}$`;
const text = Type.String({ minLength: 1, maxLength: 200 });
const filters = {
  workspaceId,
  actor: Type.Optional(text),
  action: Type.Optional(text),
  object: Type.Optional(text),
  from: Type.Optional(Type.String({ pattern: instant })),
  until: Type.Optional(Type.String({ pattern: instant })),
};
const Filters = Type.Object(filters);
const Query = Type.Object({ ...filters, before: Type.Optional(id) });

/** Routes for the audit log of the console, page by page and as a file. */
export function auditRoutes(server: FastifyInstance, { accounts }: { accounts: ConsoleAccountDependencies }): void {
  const config = { permission: 'audit.read' as const };
  const response = { 200: Type.Object({ entries: Type.Array(AuditEntry) }) };
  server.get(`${api}/audit`, { schema: { hide: true, querystring: Query, response }, config }, async (request) => {
    const { before, ...query } = request.query as Static<typeof Query>;
    return {
      entries: await listAudit(accounts, { ...readFilters(query), reader: request.signedIn, beforeId: before }),
    };
  });
  server.get(`${api}/audit.csv`, { schema: { hide: true, querystring: Filters }, config }, (request, reply) =>
    reply
      .header('content-type', 'text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="audit.csv"')
      .header('x-content-type-options', 'nosniff')
      .send(Readable.from(presentFile(exportAudit(accounts, readExport(request))))),
  );
}

function readExport({ query, signedIn: reader }: FastifyRequest) {
  return { ...readFilters(query as Static<typeof Filters>), reader };
}

function readFilters({ workspaceId, actor, action, object, from, until }: Static<typeof Filters>) {
  return {
    ...{ workspaceId, actor, action, object },
    from: from === undefined ? undefined : new Date(from),
    until: until === undefined ? undefined : new Date(until),
  };
}

const columns = [
  ['at', ({ at }) => at.toISOString()],
  ['actor', ({ actorName }) => actorName],
  ['action', ({ action }) => action],
  ['object_id', ({ objectId }) => objectId ?? ''],
  ['object', ({ objectName }) => objectName ?? ''],
  ['detail', ({ detail }) => JSON.stringify(detail)],
] as const satisfies [string, (line: Line) => string][];

async function* presentFile(pages: AsyncGenerator<Line[]>): AsyncGenerator<string> {
  yield presentCsv([columns.map(([name]) => name)]);
  for await (const lines of pages) yield presentCsv(lines.map((line) => columns.map(([, read]) => read(line))));
}
