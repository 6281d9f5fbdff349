import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { changeAlertSettings, readAlerts, readAlertSettings, testAlerts } from '../../app/alerts/manage-alerts.ts';
import type { AlertDependencies } from '../../app/alerts/manage-alerts.ts';
import { consoleApi as api } from './console-access.ts';
import { Alert, AlertKind, AlertSettings } from './alert-shapes.ts';

const Workspace = Type.Object({ workspaceId: Type.String({ maxLength: 64 }) });
const Change = Type.Object(
  {
    webhookUrl: Type.String({ maxLength: 4096 }),
    emails: Type.Array(Type.String({ maxLength: 1000 }), { maxItems: 50 }),
    mutedKinds: Type.Array(AlertKind, { maxItems: 10 }),
  },
  { additionalProperties: false },
);

/** Alerts on the console: what is and was wrong, and who is told. */
export function consoleAlertRoutes(server: FastifyInstance, deps: { alerts: AlertDependencies }): void {
  const schema = { hide: true, querystring: Workspace };
  const workspaceOf = (query: unknown): string => (query as Static<typeof Workspace>).workspaceId;
  const listed = { 200: Type.Object({ alerts: Type.Array(Alert) }) };
  server.get(
    `${api}/alerts`,
    { schema: { ...schema, response: listed }, config: { permission: 'overview.read' } },
    async (request) => ({ alerts: await readAlerts(deps.alerts, workspaceOf(request.query)) }),
  );
  const config = { permission: 'settings.write' as const };
  const response = { 200: Type.Object({ settings: AlertSettings }) };
  server.get(`${api}/alerts/settings`, { schema: { ...schema, response }, config }, async (request) => ({
    settings: await readAlertSettings(deps.alerts, workspaceOf(request.query)),
  }));
  server.put(`${api}/alerts/settings`, { schema: { ...schema, body: Change, response }, config }, async (request) => ({
    settings: await changeAlertSettings(deps.alerts, {
      ...(request.body as Static<typeof Change>),
      workspaceId: workspaceOf(request.query),
      by: request.signedIn,
    }),
  }));
  server.post(`${api}/alerts/test`, { schema, config }, async (request, reply) => {
    await testAlerts(deps.alerts, { workspaceId: workspaceOf(request.query), by: request.signedIn });
    return reply.code(204).send();
  });
}
