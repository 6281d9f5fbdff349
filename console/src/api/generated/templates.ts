// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type CampaignTemplate = {
  id: string;
  name: string;

  /** A body with which `POST /v5/campaigns` creates a draft from the template. */
  request: Record<string, unknown>;
  createdBy: string;
  createdAt: string;
  updatedAt: string;
};

export type TemplateList = {
  templates: CampaignTemplate[];
};
