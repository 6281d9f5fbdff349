import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleSystem } from '../../app/console/console-system.ts';
import { consoleApi as api } from './console-access.ts';
import { SystemState } from './system-shapes.ts';

const Workspace = Type.Object({ workspaceId: Type.String({ maxLength: 64 }) });

/** The installation as a whole; the answer is what "Copy diagnostics" copies. */
export function consoleSystemRoutes(server: FastifyInstance, { system }: { system: ConsoleSystem }): void {
  const options = {
    schema: { hide: true, querystring: Workspace, response: { 200: SystemState } },
    config: { permission: 'system.read' as const },
  };
  server.get(`${api}/system`, options, (request) =>
    system.read((request.query as Static<typeof Workspace>).workspaceId),
  );
}
