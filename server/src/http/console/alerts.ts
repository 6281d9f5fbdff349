import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { changeAlertSettings, readAlerts, readAlertSettings, testAlerts } from '../../app/system/alerts.ts';
import type { AlertDependencies } from '../../app/system/alerts.ts';
import { alertKinds } from '../../domain/operations/conditions.ts';
import { consoleApi as api } from './access.ts';
import { changeOf, closed, Workspace, workspaceOf } from './requests.ts';
import { described, oneOf, orNull } from './shape-parts.ts';

export const AlertKind = oneOf(alertKinds);

export const Alert = described(
  Type.Object({
    id: Type.String(),
    workspaceId: Type.String(),
    kind: AlertKind,
    subject: Type.String({ description: 'The provider, job or key that the alert is about.' }),
    what: Type.String(),
    todo: Type.String({ description: 'What an operator can do about it.' }),
    openedAt: Type.String(),
    closedAt: described(orNull(Type.String()), 'Null while the problem exists.'),
  }),
  'A problem that is blocking delivery, or may soon, with its start and end.',
);

export const AlertSettings = described(
  Type.Object({
    webhookUrl: orNull(Type.String()),
    emails: Type.Array(Type.String()),
    mutedKinds: Type.Array(AlertKind),
  }),
  'The receivers of the alerts of a workspace.',
);

const Change = Type.Object(
  {
    webhookUrl: Type.String({ maxLength: 4096 }),
    emails: Type.Array(Type.String({ maxLength: 1000 }), { maxItems: 50 }),
    mutedKinds: Type.Array(AlertKind, { maxItems: 10 }),
  },
  closed,
);

/** Routes for alerts on the console: current and past problems, and who is notified. */
export function consoleAlertRoutes(server: FastifyInstance, deps: { alerts: AlertDependencies }): void {
  const schema = { hide: true, querystring: Workspace };
  const listed = { 200: Type.Object({ alerts: Type.Array(Alert) }) };
  server.get(
    `${api}/alerts`,
    { schema: { ...schema, response: listed }, config: { permission: 'overview.read' } },
    async (request) => ({ alerts: await readAlerts(deps.alerts, workspaceOf(request)) }),
  );
  const config = { permission: 'settings.write' as const };
  const response = { 200: Type.Object({ settings: AlertSettings }) };
  server.get(`${api}/alerts/settings`, { schema: { ...schema, response }, config }, async (request) => ({
    settings: await readAlertSettings(deps.alerts, workspaceOf(request)),
  }));
  server.put(`${api}/alerts/settings`, { schema: { ...schema, body: Change, response }, config }, async (request) => ({
    settings: await changeAlertSettings(deps.alerts, {
      ...(request.body as Static<typeof Change>),
      ...changeOf(request),
    }),
  }));
  server.post(`${api}/alerts/test`, { schema, config }, async (request, reply) => {
    await testAlerts(deps.alerts, changeOf(request));
    return reply.code(204).send();
  });
}
