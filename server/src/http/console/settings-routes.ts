import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleSettings } from '../../app/console/console-settings.ts';
import { payloadModes } from '../../domain/campaigns/android-payload.ts';
import { consoleApi as api } from './console-access.ts';
import { pushBodies } from '../../domain/push/push-bodies.ts';
import { serviceOrigin } from './service-addresses.ts';
import { oneOf } from './shape-parts.ts';
import { FixedSettings, WorkspaceSettings } from './settings-shapes.ts';

const Workspace = Type.Object({ workspaceId: Type.String({ maxLength: 64 }) });
const text = Type.String({ maxLength: 1000 });
const Settings = Type.Object(
  {
    name: text,
    timeZone: text,
    frequencyCaps: text,
    quietHours: text,
    quietMode: Type.Union([Type.Literal('HOLD'), Type.Literal('DROP')]),
    minimumDelay: text,
    zoneAttribute: text,
    controlGroup: text,
    pushBodies: oneOf(pushBodies),
    androidMode: oneOf(payloadModes),
    pushFrom: text,
    dataPrefix: text,
  },
  { additionalProperties: false },
);

/** A workspace's settings on the console. */
export function consoleSettingsRoutes(
  server: FastifyInstance,
  { settings, publicUrl }: { settings: ConsoleSettings; publicUrl: string | undefined },
): void {
  const schema = { hide: true, querystring: Workspace };
  const response = { 200: Type.Object({ settings: WorkspaceSettings }) };
  const config = { permission: 'settings.write' as const };
  server.get(`${api}/settings`, { schema: { ...schema, response }, config }, async (request) => ({
    settings: await settings.read((request.query as Static<typeof Workspace>).workspaceId),
  }));
  server.get(
    `${api}/settings/fixed`,
    { schema: { ...schema, response: { 200: FixedSettings } }, config },
    async (request) => ({
      ...(await settings.readFixed((request.query as Static<typeof Workspace>).workspaceId)),
      url: serviceOrigin(request, publicUrl),
    }),
  );
  server.put(`${api}/settings`, { schema: { ...schema, body: Settings, response }, config }, async (request) => ({
    settings: await settings.change({
      ...(request.body as Static<typeof Settings>),
      ...(request.query as Static<typeof Workspace>),
      by: request.signedIn,
    }),
  }));
}
