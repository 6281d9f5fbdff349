import type { TablerIcon } from '@tabler/icons-react';
import { screens } from '../screens.ts';
import type { Screen } from '../screens.ts';
import { usePermissions, useSession } from '../session/use-session.ts';

export type ListedScreen = {
  title: string;
  icon: TablerIcon;
  place: NonNullable<Screen['place']>;
  /** The address of a screen that needs only the workspace's id. The compiler checks links against this one. */
  to: '/w/$workspaceId';
};

/** The screens that this user may open here without a link on another screen, in the order of their table. */
export function useListedScreens(): ListedScreen[] {
  const { isSandbox } = useSession();
  const permissions = usePermissions();
  return Object.values<Screen>(screens).flatMap((screen) => {
    if (screen.place === undefined) return [];
    const { path, title, permission, icon, place, isSandboxOnly } = screen;
    const isOpen =
      (permission === undefined || permissions.includes(permission)) && (isSandbox || isSandboxOnly === undefined);
    const to = `/w/$workspaceId${path === '/' ? '' : path}` as ListedScreen['to'];
    return isOpen ? [{ title, icon, place, to }] : [];
  });
}
