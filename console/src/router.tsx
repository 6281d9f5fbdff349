import { Container } from '@mantine/core';
import { Navigate, Outlet, createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import type { ResolveFullPath, ResolveId, Route } from '@tanstack/react-router';
import type { Permission } from './api/generated/accounts.ts';
import { EmptyState } from './parts/empty-state.tsx';
import { Failure } from './parts/failure.tsx';
import { Waiting } from './parts/waiting.tsx';
import { screens } from './screens.ts';
import type { Screen } from './screens.ts';
import { SessionGate } from './session/session-gate.tsx';
import { useSession } from './session/use-session.ts';
import { formatAddressSearch, parseAddressSearch } from './shell/address-search.ts';
import { NotFoundPage } from './shell/not-found-page.tsx';
import { firstWorkspace } from './shell/workspace.ts';
import { WorkspaceShell } from './shell/workspace-shell.tsx';

const root = createRootRoute({
  component: () => (
    <SessionGate>
      <Outlet />
    </SessionGate>
  ),
  notFoundComponent: NotFoundPage,
});

const home = createRoute({ getParentRoute: () => root, path: '/', component: Home });
const workspace = createRoute({
  getParentRoute: () => root,
  path: '/w/$workspaceId',
  component: WorkspaceShell,
  notFoundComponent: NotFoundPage,
});

const tree = root.addChildren([home, workspace.addChildren(makeScreenRoutes())]);

export const router = createRouter({
  routeTree: tree,
  basepath: '/console',
  parseSearch: parseAddressSearch,
  stringifySearch: formatAddressSearch,
  defaultPendingComponent: () => <Waiting />,
  defaultErrorComponent: ({ error }) => <Failure error={error as Error} onRetry={() => location.reload()} />,
  defaultNotFoundComponent: NotFoundPage,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    title?: string;
    permission?: Permission;
  }
}

/** The routes of `screens.ts`, with the paths and searches of its entries as types, so that the compiler checks links. */
function makeScreenRoutes(): { [Name in keyof typeof screens]: ScreenRoute<(typeof screens)[Name]> } {
  const routes = Object.entries<Screen>(screens).map(([name, { path, title, permission, readSearch, page }]) => [
    name,
    createRoute({
      getParentRoute: () => workspace,
      path,
      component: page,
      staticData: { title, ...(permission !== undefined && { permission }) },
      ...(readSearch !== undefined && { validateSearch: readSearch as (search: Record<string, unknown>) => object }),
    }),
  ]);
  return Object.fromEntries(routes);
}

type ScreenRoute<Of extends Screen> = Route<
  unknown,
  typeof workspace,
  Of['path'],
  ResolveFullPath<typeof workspace, Of['path']>,
  string,
  ResolveId<typeof workspace, string, Of['path']>,
  Of extends { readSearch: infer Read } ? Read : undefined
>;

/** Redirects an address without a workspace to the last used one. */
function Home() {
  const first = firstWorkspace(useSession().workspaces);
  if (!first)
    return (
      <Container component="main">
        <EmptyState title="No workspaces yet" command="npm run carillon -- workspaces create --name Shop">
          Create the first one on the command line, then reload.
        </EmptyState>
      </Container>
    );
  return <Navigate to="/w/$workspaceId" params={{ workspaceId: first.id }} replace />;
}
