import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleSettings } from '../../app/workspace-settings.ts';
import { payloadModes } from '../../domain/content/content.ts';
import { pushBodies } from '../../domain/push.ts';
import { consoleApi as api, serviceOrigin } from './access.ts';
import { LimitUse } from './overview.ts';
import { changeOf, Workspace, workspaceOf } from './requests.ts';
import { described, oneOf } from './shape-parts.ts';

export const WorkspaceSettings = described(
  Type.Object({
    name: Type.String(),
    timeZone: Type.String({ description: 'The IANA name of the time zone.' }),
    frequencyCaps: Type.String({ description: '`2/1d,5/7d`: messages in hours or days.' }),
    quietHours: Type.String({ description: "As in `22:00-08:00`, in each user's time zone." }),
    quietMode: oneOf(['HOLD', 'DROP']),
    minimumDelay: Type.String({ description: 'The minutes between two messages to a user.' }),
    zoneAttribute: Type.String({ description: "The attribute that holds a user's time zone." }),
    controlGroup: Type.String({
      description: 'Percent of the users that are left out by campaigns with a control group.',
    }),
    pushBodies: oneOf(['lenient', 'strict']),
    androidMode: oneOf(['data', 'notification', 'both']),
    pushFrom: Type.String({ description: 'Value of `push_from` in the data of Android messages.' }),
    dataPrefix: Type.String({
      description: 'The prefix of our keys in that data; `none` for the prefix of the installation.',
    }),
  }),
  'Settings in the form in which users type them; `none` for a control that is not set.',
);

export const FixedSettings = described(
  Type.Object({
    workspaceId: Type.String(),
    dbName: Type.String(),
    dataCenter: Type.String(),
    url: Type.String({ description: 'The address under which callers reach the API.' }),
    headerPrefix: Type.Object({ value: Type.String(), setting: Type.String() }),
    limits: Type.Array(LimitUse),
  }),
  "What is as it is: ids, and what the installation's settings say.",
);

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

/** Routes for a workspace's settings on the console. */
export function consoleSettingsRoutes(
  server: FastifyInstance,
  { settings, publicUrl }: { settings: ConsoleSettings; publicUrl: string | undefined },
): void {
  const schema = { hide: true, querystring: Workspace };
  const response = { 200: Type.Object({ settings: WorkspaceSettings }) };
  const config = { permission: 'settings.write' as const };
  server.get(`${api}/settings`, { schema: { ...schema, response }, config }, async (request) => ({
    settings: await settings.read(workspaceOf(request)),
  }));
  server.get(
    `${api}/settings/fixed`,
    { schema: { ...schema, response: { 200: FixedSettings } }, config },
    async (request) => ({
      ...(await settings.readFixed(workspaceOf(request))),
      url: serviceOrigin(request, publicUrl),
    }),
  );
  server.put(`${api}/settings`, { schema: { ...schema, body: Settings, response }, config }, async (request) => ({
    settings: await settings.change({
      ...(request.body as Static<typeof Settings>),
      ...changeOf(request),
    }),
  }));
}
