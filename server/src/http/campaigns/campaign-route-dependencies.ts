import type { CampaignDependencies } from '../../app/campaigns/authoring-dependencies.ts';
import type { BearerDependencies } from '../auth/bearer.ts';
import type { VendorHeaders } from '../vendor-headers.ts';

/** What the hook before every campaign route takes. */
export type CampaignAccessDependencies = BearerDependencies & { vendorHeaders: VendorHeaders };

export type CampaignRouteDependencies = CampaignDependencies &
  CampaignAccessDependencies & {
    /** The guide that the deprecation of V1 links to, a Markdown file. */
    migrationGuideFile: string;
  };
