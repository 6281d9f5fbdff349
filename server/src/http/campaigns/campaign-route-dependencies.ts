import type { CampaignUseCases } from '../../app/campaigns/campaign-use-cases.ts';
import type { TokenUseCases } from '../../app/tokens/token-use-cases.ts';
import type { VendorHeaders } from '../vendor-headers.ts';

export type CampaignRouteDependencies = {
  campaigns: CampaignUseCases;
  tokens: TokenUseCases;
  vendorHeaders: VendorHeaders;
  serviceDomain?: string | undefined;
  /** The guide that the deprecation of V1 links to, a Markdown file. */
  migrationGuideFile: string;
};
