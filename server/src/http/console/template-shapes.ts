import { Type } from 'typebox';
import { described } from './shape-parts.ts';

export const CampaignTemplate = Type.Object({
  id: Type.String(),
  name: Type.String(),
  request: described(
    Type.Record(Type.String(), Type.Unknown()),
    'The body with which `POST /v5/campaigns` makes a draft of it.',
  ),
  createdBy: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
});

export const TemplateList = Type.Object({ templates: Type.Array(CampaignTemplate) });
