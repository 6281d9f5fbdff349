import { getRouteApi } from '@tanstack/react-router';
import { RouteLink } from '../parts/route-link.tsx';
import { useMay } from '../session/use-session.ts';
import { countText } from './figure-text.ts';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

type DeliveryCountProps = { count: number; of: { platform?: string; outcome?: string; code?: string } };

/** A number of devices that leads to their rows in the delivery log, for whoever may see whose they are. */
export function DeliveryCount({ count, of: { code, ...of } }: DeliveryCountProps) {
  const { workspaceId, campaignId } = route.useParams();
  const maySee = useMay('people.read');
  if (count === 0 || !maySee) return countText(count);
  // Where the provider gave no word the outcome stands for it, and no row has that as its code.
  const search = { campaign: campaignId, ...of, ...(code !== undefined && code !== of.outcome && { code }) };
  return (
    <RouteLink to="/w/$workspaceId/deliveries" params={{ workspaceId }} search={search}>
      {countText(count)}
    </RouteLink>
  );
}
