import {
  IconBell,
  IconBroadcast,
  IconCalendar,
  IconChartLine,
  IconClipboardList,
  IconDeviceMobile,
  IconFlask,
  IconHeart,
  IconHome,
  IconKey,
  IconPlugConnected,
  IconPlus,
  IconRobot,
  IconSend,
  IconServer,
  IconSettings,
  IconTemplate,
  IconTerminal2,
  IconUser,
  IconUserCircle,
  IconUsers,
  IconUsersGroup,
} from '@tabler/icons-react';
import type { TablerIcon } from '@tabler/icons-react';
import { lazyRouteComponent } from '@tanstack/react-router';
import type { RouteComponent } from '@tanstack/react-router';
import type { Permission } from './api/generated/accounts.ts';
import { readAuditSearch } from './audit/audit-search.ts';
import { readCalendarSearch } from './campaigns/calendar-search.ts';
import { readCampaignFilters } from './campaigns/campaign-filters.ts';
import { readReportSearch } from './campaigns/report/report-search.ts';
import { readComposerSearch } from './composer/steps.ts';
import { readDeliverySearch } from './deliveries/delivery-search.ts';
import { readLogSearch } from './log/log-search.ts';
import { readOverviewSearch } from './overview/overview-search.ts';
import { readSegmentListSearch, readSegmentSearch } from './segments/segment-search.ts';
import { textOf } from './shell/address-search.ts';
import type { AddressSearch } from './shell/address-search.ts';
import { readUserListSearch, readUserSearch } from './users/user-search.ts';

/**
 * Every screen of the console, declared once. Routes, navigation, palette, account menu, headings and the table in
 * docs/console-screens.md derive from this table. Lists show the screens in its order.
 */
export const screens = {
  overview: {
    path: '/',
    title: 'Overview',
    permission: 'overview.read',
    place: 'Engage',
    icon: IconHome,
    readSearch: readOverviewSearch,
    page: lazyRouteComponent(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
  },
  campaigns: {
    path: '/campaigns',
    title: 'Campaigns',
    permission: 'overview.read',
    place: 'Engage',
    icon: IconSend,
    readSearch: readCampaignFilters,
    page: lazyRouteComponent(() => import('./campaigns/list-page.tsx'), 'CampaignsPage'),
  },
  composer: {
    path: '/campaigns/new',
    title: 'New campaign',
    permission: 'campaigns.write',
    place: 'Search',
    icon: IconPlus,
    readSearch: readComposerSearch,
    page: lazyRouteComponent(() => import('./composer/composer-page.tsx'), 'ComposerPage'),
  },
  composed: {
    path: '/campaigns/$campaignId/edit',
    title: 'Edit campaign',
    permission: 'campaigns.write',
    readSearch: readComposerSearch,
    page: lazyRouteComponent(() => import('./composer/composer-page.tsx'), 'ComposerPage'),
  },
  campaign: {
    path: '/campaigns/$campaignId',
    title: 'Campaign',
    permission: 'overview.read',
    readSearch: readReportSearch,
    page: lazyRouteComponent(() => import('./campaigns/detail-page.tsx'), 'CampaignPage'),
  },
  calendar: {
    path: '/calendar',
    title: 'Calendar',
    permission: 'overview.read',
    place: 'Engage',
    icon: IconCalendar,
    readSearch: readCalendarSearch,
    page: lazyRouteComponent(() => import('./campaigns/calendar-page.tsx'), 'CalendarPage'),
  },
  templates: {
    path: '/templates',
    title: 'Templates',
    permission: 'overview.read',
    place: 'Engage',
    icon: IconTemplate,
    page: lazyRouteComponent(() => import('./campaigns/templates-page.tsx'), 'TemplatesPage'),
  },
  proposals: {
    path: '/proposals',
    title: 'Proposals',
    permission: 'overview.read',
    place: 'Engage',
    icon: IconRobot,
    page: lazyRouteComponent(() => import('./proposals/list-page.tsx'), 'ProposalsPage'),
  },
  proposal: {
    path: '/proposals/$proposalId',
    title: 'Proposal',
    permission: 'overview.read',
    page: lazyRouteComponent(() => import('./proposals/detail-page.tsx'), 'ProposalPage'),
  },
  segments: {
    path: '/segments',
    title: 'Segments',
    permission: 'overview.read',
    place: 'Engage',
    icon: IconUsersGroup,
    readSearch: readSegmentListSearch,
    page: lazyRouteComponent(() => import('./segments/list-page.tsx'), 'SegmentsPage'),
  },
  segment: {
    path: '/segments/$segmentId',
    title: 'Segment',
    permission: 'overview.read',
    readSearch: readSegmentSearch,
    page: lazyRouteComponent(() => import('./segments/detail-page.tsx'), 'SegmentPage'),
  },
  newFile: {
    path: '/segments/new/file',
    title: 'New file segment',
    permission: 'segments.write',
    page: lazyRouteComponent(() => import('./segments/file/file-page.tsx'), 'FilePage'),
  },
  changedFile: {
    path: '/segments/$segmentId/file',
    title: 'Change by a file',
    permission: 'segments.write',
    page: lazyRouteComponent(() => import('./segments/file/file-page.tsx'), 'FilePage'),
  },
  newFilter: {
    path: '/segments/new/filter',
    title: 'New filter segment',
    permission: 'segments.write',
    page: lazyRouteComponent(() => import('./segments/filter/filter-page.tsx'), 'FilterPage'),
  },
  changedFilter: {
    path: '/segments/$segmentId/filter',
    title: 'Change filters',
    permission: 'segments.write',
    page: lazyRouteComponent(() => import('./segments/filter/filter-page.tsx'), 'FilterPage'),
  },
  users: {
    path: '/people',
    title: 'Users',
    permission: 'people.read',
    place: 'Engage',
    icon: IconUsers,
    readSearch: readUserListSearch,
    page: lazyRouteComponent(() => import('./users/list-page.tsx'), 'UsersPage'),
  },
  user: {
    path: '/people/$userId',
    title: 'User',
    permission: 'people.read',
    readSearch: readUserSearch,
    page: lazyRouteComponent(() => import('./users/detail-page.tsx'), 'UserPage'),
  },
  topics: {
    path: '/topics',
    title: 'Topics',
    permission: 'overview.read',
    place: 'Engage',
    icon: IconHeart,
    page: lazyRouteComponent(() => import('./topics/list-page.tsx'), 'TopicsPage'),
  },
  deliveries: {
    path: '/deliveries',
    title: 'Delivery log',
    permission: 'people.read',
    place: 'Data',
    icon: IconBroadcast,
    readSearch: readDeliverySearch,
    page: lazyRouteComponent(() => import('./deliveries/list-page.tsx'), 'DeliveriesPage'),
  },
  log: {
    path: '/log',
    title: 'API log',
    permission: 'log.read',
    place: 'Data',
    icon: IconTerminal2,
    readSearch: readLogSearch,
    page: lazyRouteComponent(() => import('./log/log-page.tsx'), 'LogPage'),
  },
  keys: {
    path: '/keys',
    title: 'Keys',
    permission: 'keys.read',
    place: 'Developers',
    icon: IconKey,
    page: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
  },
  apps: {
    path: '/apps',
    title: 'Apps',
    permission: 'keys.read',
    place: 'Developers',
    icon: IconDeviceMobile,
    page: lazyRouteComponent(() => import('./apps/apps-page.tsx'), 'AppsPage'),
  },
  sandbox: {
    path: '/sandbox',
    title: 'Sandbox',
    permission: 'sandbox.use',
    place: 'Developers',
    icon: IconFlask,
    isSandboxOnly: true,
    page: lazyRouteComponent(() => import('./sandbox/sandbox-page.tsx'), 'SandboxPage'),
  },
  providers: {
    path: '/providers',
    title: 'Providers',
    permission: 'overview.read',
    place: 'Operate',
    icon: IconPlugConnected,
    page: lazyRouteComponent(() => import('./providers/providers-page.tsx'), 'ProvidersPage'),
  },
  alerts: {
    path: '/alerts',
    title: 'Alerts',
    permission: 'overview.read',
    place: 'Operate',
    icon: IconBell,
    page: lazyRouteComponent(() => import('./alerts-page.tsx'), 'AlertsPage'),
  },
  metrics: {
    path: '/metrics',
    title: 'Metrics',
    permission: 'system.read',
    place: 'Operate',
    icon: IconChartLine,
    readSearch: readMetricsSearch,
    page: lazyRouteComponent(() => import('./metrics-page.tsx'), 'MetricsPage'),
  },
  system: {
    path: '/system',
    title: 'System',
    permission: 'system.read',
    place: 'Operate',
    icon: IconServer,
    page: lazyRouteComponent(() => import('./system/system-page.tsx'), 'SystemPage'),
  },
  audit: {
    path: '/audit',
    title: 'Audit log',
    permission: 'audit.read',
    place: 'Operate',
    icon: IconClipboardList,
    readSearch: readAuditSearch,
    page: lazyRouteComponent(() => import('./audit/audit-page.tsx'), 'AuditPage'),
  },
  settings: {
    path: '/settings',
    title: 'Settings',
    permission: 'settings.write',
    place: 'Operate',
    icon: IconSettings,
    page: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
  },
  account: {
    path: '/account',
    title: 'Sessions and password',
    place: 'Account menu',
    icon: IconUserCircle,
    page: lazyRouteComponent(() => import('./accounts/own-account-page.tsx'), 'AccountPage'),
  },
  accounts: {
    path: '/accounts',
    title: 'Accounts and roles',
    permission: 'accounts.manage',
    place: 'Account menu',
    icon: IconUser,
    page: lazyRouteComponent(() => import('./accounts/accounts-page.tsx'), 'AccountsPage'),
  },
} as const satisfies Record<string, Screen>;

/** Groups of the navigation, by role of their users. */
export const navigationGroups = ['Engage', 'Data', 'Developers', 'Operate'] as const;

export type NavigationGroup = (typeof navigationGroups)[number];

export type Screen = {
  /** The address below `/w/<workspace>`. */
  path: `/${string}`;
  /** The name in lists, and the heading of a page that passes none to `PageHeader`. */
  title: string;
  /** The permission that the server requires for the screen's data; without one, every signed-in user opens it. */
  permission?: Permission;
  /** Validates the part of the address behind the question mark. */
  readSearch?: (search: AddressSearch) => object;
  /** Loads the page's module when a user opens the screen. */
  page: RouteComponent;
} & (ListedScreen | { place?: undefined });

/** A screen that users can open without a link on another screen. Search lists each of them. */
type ListedScreen = { place: NavigationGroup | 'Account menu' | 'Search'; icon: TablerIcon; isSandboxOnly?: true };

function readMetricsSearch(search: AddressSearch): { span?: 'day' | 'week' } {
  const span = textOf(search.span);
  return span === 'day' || span === 'week' ? { span } : {};
}
