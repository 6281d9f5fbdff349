import type { FastifyRequest } from 'fastify';
import type { AuthoringCaller } from '../../app/campaigns/authoring-dependencies.ts';
import { readCampaign } from '../../domain/campaign-document/read-campaign.ts';
import type { AnsweredCall } from '../add-warnings.ts';
import { warnOfUnknownFields, warnOfUnknownNames } from '../unknown-fields.ts';
import type { CampaignRouteDependencies } from './campaign-route-dependencies.ts';
import { takeParts } from './parse-authoring.ts';
import { readBody } from './parse-search.ts';

type Warning = AnsweredCall & { shape: object };

/** Unknown members of the body and of its filters, in one header (decision D5). */
export function warnOfParts(
  { vendorHeaders }: Pick<CampaignRouteDependencies, 'vendorHeaders'>,
  { request, reply, shape }: Warning,
): void {
  const body = readBody(request);
  warnOfUnknownFields(vendorHeaders, body, { request, reply, shape });
  const { unknownFields } = readCampaign(takeParts(body));
  warnOfUnknownNames(vendorHeaders, { request, reply }, unknownFields);
}

/** Who asks, with what tells a repeat. */
export function callerOf(request: FastifyRequest): AuthoringCaller {
  return {
    workspaceId: request.facts.workspaceId!,
    requestedBy: request.callerKey!.name,
    idempotencyKey: request.headers['idempotency-key'] as string | undefined,
    rawBody: request.rawBody,
  };
}
