import type { BusinessEventDependencies } from '../../app/business-events/create-business-event.ts';
import type { CampaignAccessDependencies } from '../campaigns/campaign-route-dependencies.ts';

export type BusinessEventRouteDependencies = BusinessEventDependencies & CampaignAccessDependencies;
