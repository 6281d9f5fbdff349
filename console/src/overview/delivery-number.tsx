import { RouteLink } from '../parts/route-link.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';

type DeliveryNumberProps = {
  rows: { campaign?: string; platform?: string; outcome: string; code?: string };
  children: string;
};

/** A number of deliveries that leads to their rows, for those who may see them. */
export function DeliveryNumber({ rows, children }: DeliveryNumberProps) {
  const { id: workspaceId } = useWorkspace();
  const maySee = useMay('people.read');
  // Of nothing there are no rows to see.
  if (!maySee || children === '0' || children === '–') return children;
  return (
    <RouteLink to="/w/$workspaceId/deliveries" params={{ workspaceId }} search={rows}>
      {children}
    </RouteLink>
  );
}
