import { getRouteApi } from '@tanstack/react-router';
import { RouteLink } from '../parts/route-link.tsx';
import { useMay } from '../session/use-session.ts';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

type DeliveryCountProps = { count: number; of: { platform?: string; outcome?: string; code?: string } };

/** A number of devices that leads to their rows in the delivery log, for whoever may see whose they are. */
export function DeliveryCount({ count, of }: DeliveryCountProps) {
  const { workspaceId, campaignId } = route.useParams();
  const maySee = useMay('people.read');
  const text = count.toLocaleString('en');
  if (count === 0 || !maySee) return text;
  return (
    <RouteLink to="/w/$workspaceId/deliveries" params={{ workspaceId }} search={{ campaign: campaignId, ...of }}>
      {text}
    </RouteLink>
  );
}
