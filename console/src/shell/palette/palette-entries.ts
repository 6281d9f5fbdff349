import {
  IconBook2,
  IconBroadcast,
  IconDeviceMobile,
  IconKey,
  IconInbox,
  IconPlus,
  IconSend,
  IconTerminal2,
  IconUser,
  IconUserCircle,
  IconUsersGroup,
  IconWebhook,
} from '@tabler/icons-react';
import type { TablerIcon } from '@tabler/icons-react';
import type { Place } from '../../api/generated/places.ts';
import { useSession } from '../../session/use-session.ts';
import { useNavigationGroups } from '../navigation-entries.ts';

export type PaletteEntry = {
  key: string;
  icon: TablerIcon;
  name: string;
  detail: string | null;
  /** What it is: "Screen", "Campaign". */
  kind: string;
} & (
  | { to: { to: string; params: Record<string, string>; search: Record<string, string> }; href?: undefined }
  | { to?: undefined; href: string }
);

type Asked = { workspaceId: string; word: string; places: readonly Place[] };

/** What the palette lists: without a word every screen, otherwise what has the word in its name. */
export function usePlaceEntries({ workspaceId, word, places }: Asked): PaletteEntry[] {
  const screens = useScreens(workspaceId);
  const folded = word.toLowerCase();
  const matching = screens
    .filter(({ name, detail }) => `${name} ${detail ?? ''}`.toLowerCase().includes(folded))
    .sort((one, other) => rankOf(one, folded) - rankOf(other, folded));
  return [...matching, ...places.map((place) => entryOf(place, workspaceId))];
}

/** What begins with the word comes first. */
function rankOf({ name }: PaletteEntry, folded: string): number {
  return folded !== '' && name.toLowerCase().startsWith(folded) ? 0 : 1;
}

function useScreens(workspaceId: string): PaletteEntry[] {
  const { permissions } = useSession();
  const params = { workspaceId };
  const entries = useNavigationGroups().flatMap((group) =>
    group.entries.map(({ name, to, icon }): PaletteEntry => ({
      ...{ key: to, icon, name, detail: group.name, kind: 'Screen' },
      to: { to, params, search: {} },
    })),
  );
  const screen = (icon: TablerIcon, name: string, path: string): PaletteEntry => ({
    ...{ key: path, icon, name, detail: null, kind: 'Screen' },
    to: { to: `/w/$workspaceId/${path}`, params, search: {} },
  });
  return [
    ...entries,
    ...(permissions.includes('campaigns.write') ? [screen(IconPlus, 'New campaign', 'campaigns/new')] : []),
    screen(IconUserCircle, 'Sessions and password', 'account'),
    ...(permissions.includes('accounts.manage') ? [screen(IconUser, 'Accounts and roles', 'accounts')] : []),
    {
      key: '/docs',
      icon: IconBook2,
      name: 'API reference',
      detail: 'Every route, with examples',
      kind: 'Docs',
      href: '/docs',
    },
    {
      ...{ key: '/openapi.json', icon: IconBook2, name: 'OpenAPI document', detail: 'openapi.json', kind: 'Docs' },
      href: '/openapi.json',
    },
  ];
}

type PlaceKind = Place['kind'];

const kinds: Record<PlaceKind, { icon: TablerIcon; kind: string }> = {
  campaign: { icon: IconSend, kind: 'Campaign' },
  run: { icon: IconSend, kind: 'Run of a campaign' },
  segment: { icon: IconUsersGroup, kind: 'Segment' },
  user: { icon: IconUser, kind: 'User' },
  device: { icon: IconDeviceMobile, kind: 'Device' },
  delivery: { icon: IconBroadcast, kind: 'Message' },
  call: { icon: IconTerminal2, kind: 'API call' },
  callback: { icon: IconWebhook, kind: 'Callback' },
  email: { icon: IconInbox, kind: 'Email' },
  key: { icon: IconKey, kind: 'Key' },
};

function entryOf({ kind, id, name, detail }: Place, workspaceId: string): PaletteEntry {
  return { key: `${kind} ${id}`, name, detail, ...kinds[kind], to: addressOf(kind, { id, workspaceId }) };
}

function addressOf(kind: PlaceKind, { id, workspaceId }: { id: string; workspaceId: string }) {
  const at = (path: string, params: Record<string, string> = {}, search: Record<string, string> = {}) => ({
    to: `/w/$workspaceId/${path}`,
    params: { workspaceId, ...params },
    search,
  });
  switch (kind) {
    case 'campaign':
    case 'run':
      return at('campaigns/$campaignId', { campaignId: id });
    case 'segment':
      return at('segments/$segmentId', { segmentId: id });
    case 'user':
    case 'device':
      return at('people/$userId', { userId: id });
    case 'delivery':
      return at('deliveries', {}, { row: id });
    case 'call':
      return at('log', {}, { call: id });
    case 'callback':
      return at('log', {}, { view: 'callbacks', call: id });
    case 'email':
      return at('log', {}, { view: 'mails', call: id });
    case 'key':
      return at('keys');
    default:
      return kind satisfies never;
  }
}
