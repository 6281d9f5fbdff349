import type { FindingPlace } from '../api/generated/overview.ts';
import { RouteLink } from '../parts/route-link.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';

/** The way to what a finding is about, for those who may go there. */
export function FindingLink({ place }: { place: FindingPlace }) {
  const { id: workspaceId } = useWorkspace();
  const params = { workspaceId };
  const [seesSystem, setsUp, seesLog, seesUsers, seesKeys] = [
    useMay('system.read'),
    useMay('settings.write'),
    useMay('log.read'),
    useMay('people.read'),
    useMay('keys.read'),
  ];
  switch (place.screen) {
    case 'campaign':
      return (
        <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ ...params, campaignId: place.campaignId }}>
          Open the campaign
        </RouteLink>
      );
    case 'deliveries':
      return seesUsers ? (
        <RouteLink
          to="/w/$workspaceId/deliveries"
          params={params}
          search={{ platform: place.platform, outcome: place.outcome, code: place.code }}
        >
          See them
        </RouteLink>
      ) : null;
    case 'providers':
      return setsUp ? (
        <RouteLink to="/w/$workspaceId/providers" params={params}>
          Open the providers
        </RouteLink>
      ) : null;
    case 'system':
      return seesSystem ? (
        <RouteLink to="/w/$workspaceId/system" params={params}>
          Open the system page
        </RouteLink>
      ) : null;
    case 'segments':
      return (
        <RouteLink to="/w/$workspaceId/segments" params={params}>
          Open the segments
        </RouteLink>
      );
    case 'log':
      return seesLog ? (
        <RouteLink to="/w/$workspaceId/log" params={params} search={{ only: 'refused' }}>
          See refused calls
        </RouteLink>
      ) : null;
    case 'keys':
      return seesKeys ? (
        <RouteLink to="/w/$workspaceId/keys" params={params}>
          Open the keys
        </RouteLink>
      ) : null;
    default:
      return place satisfies never;
  }
}
