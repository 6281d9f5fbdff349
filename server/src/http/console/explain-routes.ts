import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { explainDelivery } from '../../app/explain/explain-delivery.ts';
import type { ExplainDependencies, Explanation } from '../../app/explain/explain-delivery.ts';
import { tellNoRun, nobodyOfThatId, tellDevice, tellRun } from '../../domain/explain/tell.ts';
import { consoleApi } from './console-access.ts';
import { DeliveryExplanation } from './explain-shapes.ts';

const Query = Type.Object({
  workspaceId: Type.String({ maxLength: 64 }),
  campaignId: Type.String({ pattern: '^[0-9a-f]{24}$' }),
  customerId: Type.String({ minLength: 1, maxLength: 512 }),
  runId: Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$' })),
});

/** Why a user received a campaign or did not, for the console. */
export function consoleExplainRoutes(server: FastifyInstance, deps: ExplainDependencies): void {
  server.get(
    `${consoleApi}/explain`,
    {
      schema: { hide: true, querystring: Query, response: { 200: Type.Object({ explanation: DeliveryExplanation }) } },
      config: { permission: 'people.read' },
    },
    async (request) => {
      const { runId, ...asked } = request.query as Static<typeof Query>;
      return { explanation: present(await explainDelivery(deps, { ...asked, runId })) };
    },
  );
}

/** The same as the API says, in the console's spelling. */
function present({ campaign, customerId, runs, triggers }: Explanation) {
  const [newest] = runs ?? [];
  return {
    campaign,
    customerId,
    step: newest?.step ?? (runs ? 'NO_RUN' : 'UNKNOWN_PERSON'),
    explanation: newest ? tellRun(newest) : runs ? tellNoRun(triggers) : nobodyOfThatId,
    runs: (runs ?? []).map(({ devices, reason: _reason, ...run }) => ({
      ...run,
      explanation: tellRun({ ...run, devices, reason: _reason }),
      devices: devices.map((device) => ({ ...device, explanation: tellDevice(device) })),
    })),
  };
}
