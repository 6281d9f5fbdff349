import type { AlertKind } from '../api/generated/alerts.ts';
import { RouteLink } from '../parts/route-link.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';

/** Where it is mended, for those who may go there. */
export function AlertLink({ kind }: { kind: AlertKind }) {
  const { id: workspaceId } = useWorkspace();
  const [seesSystem, seesKeys] = [useMay('system.read'), useMay('keys.read')];
  switch (kind) {
    case 'provider':
      return (
        <RouteLink to="/w/$workspaceId/providers" params={{ workspaceId }}>
          Open the providers
        </RouteLink>
      );
    case 'credential':
      return seesKeys ? (
        <RouteLink to="/w/$workspaceId/keys" params={{ workspaceId }}>
          Open the keys
        </RouteLink>
      ) : null;
    case 'queue':
    case 'node':
    case 'job':
    case 'backup':
    case 'certificate':
      return seesSystem ? (
        <RouteLink to="/w/$workspaceId/system" params={{ workspaceId }}>
          Open the system page
        </RouteLink>
      ) : null;
    default:
      return kind satisfies never;
  }
}
