import { Container } from '@mantine/core';
import {
  Navigate,
  Outlet,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { readCalendarSearch } from './campaigns/calendar-search.ts';
import { readAuditSearch } from './audit/audit-search.ts';
import { readCampaignFilters } from './campaigns/campaign-filters.ts';
import { readReportSearch } from './campaigns/report/report-search.ts';
import { readComposerSearch } from './composer/steps.ts';
import { readDeliverySearch } from './deliveries/delivery-search.ts';
import { readLogSearch } from './log/log-search.ts';
import { EmptyState } from './parts/empty-state.tsx';
import { Failure } from './parts/failure.tsx';
import { Waiting } from './parts/waiting.tsx';
import { SessionGate } from './session/session-gate.tsx';
import { useSession } from './session/use-session.ts';
import { formatAddressSearch, parseAddressSearch, textOf } from './shell/address-search.ts';
import type { AddressSearch } from './shell/address-search.ts';
import { NotFoundPage } from './shell/not-found-page.tsx';
import { screens } from './shell/screens.ts';
import { firstWorkspace } from './shell/workspace.ts';
import { WorkspaceShell } from './shell/workspace-shell.tsx';
import { readSegmentListSearch, readSegmentSearch } from './segments/segment-search.ts';
import { readUserListSearch, readUserSearch } from './users/user-search.ts';

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

/** The screens: what is below the workspace in screens.ts, and the module that is loaded when one is opened. */
const overview = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.overview),
  component: lazyRouteComponent(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
});

const campaigns = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.campaigns),
  validateSearch: readCampaignFilters,
  component: lazyRouteComponent(() => import('./campaigns/list-page.tsx'), 'CampaignsPage'),
});
const campaign = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.campaign),
  validateSearch: readReportSearch,
  component: lazyRouteComponent(() => import('./campaigns/detail-page.tsx'), 'CampaignPage'),
});
const calendar = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.calendar),
  validateSearch: readCalendarSearch,
  component: lazyRouteComponent(() => import('./campaigns/calendar-page.tsx'), 'CalendarPage'),
});
const templates = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.templates),
  component: lazyRouteComponent(() => import('./campaigns/templates-page.tsx'), 'TemplatesPage'),
});
const composer = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.composer),
  validateSearch: readComposerSearch,
  component: lazyRouteComponent(() => import('./composer/composer-page.tsx'), 'ComposerPage'),
});
const composed = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.composed),
  validateSearch: readComposerSearch,
  component: lazyRouteComponent(() => import('./composer/composer-page.tsx'), 'ComposerPage'),
});

const segments = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.segments),
  validateSearch: readSegmentListSearch,
  component: lazyRouteComponent(() => import('./segments/list-page.tsx'), 'SegmentsPage'),
});
const segment = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.segment),
  validateSearch: readSegmentSearch,
  component: lazyRouteComponent(() => import('./segments/detail-page.tsx'), 'SegmentPage'),
});
const newFile = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.newFile),
  component: lazyRouteComponent(() => import('./segments/file/file-page.tsx'), 'FilePage'),
});
const changedFile = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.changedFile),
  component: lazyRouteComponent(() => import('./segments/file/file-page.tsx'), 'FilePage'),
});
const newFilter = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.newFilter),
  component: lazyRouteComponent(() => import('./segments/filter/filter-page.tsx'), 'FilterPage'),
});
const changedFilter = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.changedFilter),
  component: lazyRouteComponent(() => import('./segments/filter/filter-page.tsx'), 'FilterPage'),
});
const users = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.users),
  validateSearch: readUserListSearch,
  component: lazyRouteComponent(() => import('./users/list-page.tsx'), 'UsersPage'),
});
const user = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.user),
  validateSearch: readUserSearch,
  component: lazyRouteComponent(() => import('./users/detail-page.tsx'), 'UserPage'),
});
const deliveries = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.deliveries),
  validateSearch: readDeliverySearch,
  component: lazyRouteComponent(() => import('./deliveries/list-page.tsx'), 'DeliveriesPage'),
});
const log = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.log),
  validateSearch: readLogSearch,
  component: lazyRouteComponent(() => import('./log/log-page.tsx'), 'LogPage'),
});
const sandbox = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.sandbox),
  component: lazyRouteComponent(() => import('./sandbox/sandbox-page.tsx'), 'SandboxPage'),
});
const keys = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.keys),
  component: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
});

const settings = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.settings),
  component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
});

const providers = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.providers),
  component: lazyRouteComponent(() => import('./providers-page.tsx'), 'ProvidersPage'),
});
const alerts = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.alerts),
  component: lazyRouteComponent(() => import('./alerts-page.tsx'), 'AlertsPage'),
});
const metrics = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.metrics),
  validateSearch: readSpan,
  component: lazyRouteComponent(() => import('./metrics-page.tsx'), 'MetricsPage'),
});
const system = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.system),
  component: lazyRouteComponent(() => import('./system/system-page.tsx'), 'SystemPage'),
});

/** What concerns people; reached from the menu of the own account. */
const account = createRoute({
  getParentRoute: () => workspace,
  path: 'account',
  component: lazyRouteComponent(() => import('./own-account-page.tsx'), 'AccountPage'),
});
const accounts = createRoute({
  getParentRoute: () => workspace,
  path: 'accounts',
  component: lazyRouteComponent(() => import('./accounts-page.tsx'), 'AccountsPage'),
});
const audit = createRoute({
  getParentRoute: () => workspace,
  path: below(screens.audit),
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import('./audit/audit-page.tsx'), 'AuditPage'),
});

const tree = root.addChildren([
  home,
  workspace.addChildren([
    overview,
    campaigns,
    campaign,
    calendar,
    templates,
    composer,
    composed,
    segments,
    segment,
    newFile,
    changedFile,
    newFilter,
    changedFilter,
    users,
    user,
    deliveries,
    log,
    sandbox,
    keys,
    settings,
    providers,
    alerts,
    metrics,
    system,
    account,
    accounts,
    audit,
  ]),
]);

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
}

function readSpan(search: AddressSearch): { span?: 'day' | 'week' } {
  const span = textOf(search.span);
  return span === 'day' || span === 'week' ? { span } : {};
}

type Below<Path extends string> = Path extends `/w/$workspaceId${infer Rest}` ? (Rest extends '' ? '/' : Rest) : never;

function below<const Path extends string>(path: Path): Below<Path> {
  return (path.slice('/w/$workspaceId'.length) || '/') as Below<Path>;
}

/** An address without a workspace means the one used last. */
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
  return <Navigate to={screens.overview} params={{ workspaceId: first.id }} replace />;
}
