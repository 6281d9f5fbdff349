import { queryOptions } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';

/** A page of suspected devices; the newest one also says how many there are. */
export const suspectedDevicesQuery = ({ workspaceId, after }: { workspaceId: string; after?: string | undefined }) =>
  queryOptions({
    queryKey: ['suspected-devices', workspaceId, after],
    queryFn: () => consoleClient.users.listSuspectedDevices({ workspaceId, after }),
  });
