import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { explainDelivery } from '../../app/explain.ts';
import type { ExplainDependencies, Explanation } from '../../app/explain.ts';
import { describeNoRun, unknownCustomerId, describeDelivery, describeRun } from '../../domain/explain.ts';
import { consoleApi } from './access.ts';
import { id, workspaceId } from './requests.ts';
import { Platform, described, orNull } from './shape-parts.ts';

const SuspectedDelivery = Type.Object({
  id: Type.String({ description: 'The id with which the device can be kept.' }),
  code: Type.String(),
  sends: Type.Number(),
  since: Type.String(),
  lastAt: Type.String(),
  hasLeft: Type.Boolean(),
});

export const DeliveryExplanation = described(
  Type.Object({
    campaign: Type.Object({
      id: Type.String(),
      name: Type.String(),
      status: Type.String(),
      statusReason: orNull(Type.String()),
      nextAt: orNull(Type.String()),
    }),
    customerId: Type.String(),
    step: Type.String({ description: 'The step in the newest run; `NO_RUN` or `UNKNOWN_PERSON` if there is no run.' }),
    explanation: Type.String(),
    runs: described(
      Type.Array(
        Type.Object({
          runId: Type.String(),
          runStatus: Type.String(),
          createdAt: Type.String(),
          step: Type.String(),
          explanation: Type.String(),
          inbox: described(
            orNull(
              Type.Object({
                keptAt: Type.String(),
                expiresAt: Type.String(),
                readAt: orNull(Type.String()),
                archivedAt: orNull(Type.String()),
              }),
            ),
            "The message in the person's inbox; null if the run kept none.",
          ),
          devices: Type.Array(
            Type.Object({
              deviceId: described(
                orNull(Type.String()),
                "The app's name for the device; null if the device was removed.",
              ),
              platform: Platform,
              step: Type.String(),
              explanation: Type.String(),
              code: described(orNull(Type.String()), "The provider's code, or the reason why the message was held."),
              attempts: Type.Number(),
              at: orNull(Type.String()),
              until: described(orNull(Type.String()), 'The time until which the message waits.'),
              suspicion: described(
                orNull(SuspectedDelivery),
                'Why the device may leave the audience or has left it; null if this did not affect the message.',
              ),
              variation: described(
                orNull(Type.String()),
                '`variation_1` and so on; null if the campaign has only one.',
              ),
              locale: described(
                orNull(Type.String()),
                '`default` or a language tag; null if the campaign has only one locale.',
              ),
            }),
          ),
        }),
      ),
      'Newest first, at most 20.',
    ),
  }),
  'What decided whether a person got a campaign. `step` is a word for programs, `explanation` a sentence for people.',
);

const Query = Type.Object({
  workspaceId,
  campaignId: id,
  customerId: Type.String({ minLength: 1, maxLength: 512 }),
  runId: Type.Optional(id),
});

/** Routes that explain why a user received a campaign or did not, for the console. */
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

/** Presents the explanation of the API in the console's spelling. */
function present({ campaign, customerId, runs, triggers }: Explanation) {
  const [newest] = runs ?? [];
  return {
    campaign,
    customerId,
    step: newest?.step ?? (runs ? 'NO_RUN' : 'UNKNOWN_PERSON'),
    explanation: newest ? describeRun(newest) : runs ? describeNoRun(triggers) : unknownCustomerId,
    runs: (runs ?? []).map(({ devices, reason: _reason, ...run }) => ({
      ...run,
      explanation: describeRun({ ...run, devices, reason: _reason }),
      devices: devices.map((device) => ({ ...device, explanation: describeDelivery(device) })),
    })),
  };
}
