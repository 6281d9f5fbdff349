import { Group, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import type { CalendarView, CampaignCalendar } from '../api/generated/campaigns.ts';
import { consoleClient } from '../console.ts';
import { ButtonLink } from '../parts/button-link.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Waiting } from '../parts/waiting.tsx';
import views from '../parts/views.module.css';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { CalendarDays } from './calendar-days.tsx';
import { CalendarGrid } from './calendar-grid.tsx';
import { dayText, turnCalendar } from './calendar-search.ts';

const route = getRouteApi('/w/$workspaceId/calendar');
// Below it there is no room for seven days beside each other.
const wideEnough = '(min-width: 768px)';

/** What is going to be sent, day by day, in the zone of the workspace. */
export function CalendarPage() {
  const { id: workspaceId } = useWorkspace();
  const { view = 'month', date } = route.useSearch();
  const isWide = useMediaQuery(wideEnough, undefined, { getInitialValueInEffect: false });
  const calendar = useQuery({
    queryKey: ['calendar', workspaceId, view, date],
    queryFn: () => consoleClient.campaigns.readCalendar({ workspaceId, view, date }),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });
  const mayWrite = useMay('campaigns.write');
  return (
    <Stack gap="md">
      <PageHeader
        title="Calendar"
        about={calendar.data && <Zone calendar={calendar.data} />}
        actions={
          mayWrite && (
            <ButtonLink to="/w/$workspaceId/campaigns/new" params={{ workspaceId }} search={{}} variant="filled">
              New campaign
            </ButtonLink>
          )
        }
      />
      <Loaded query={calendar} waiting={<Waiting rows={8} />}>
        {(data) => (
          <>
            <Turning calendar={data} />
            {data.entries.length === 0 && <Nothing calendar={data} />}
            {isWide ? <CalendarGrid calendar={data} /> : <CalendarDays calendar={data} />}
            {data.hasMore && (
              <Text size="sm">There is more than the calendar can show; the campaign list has all of it.</Text>
            )}
          </>
        )}
      </Loaded>
    </Stack>
  );
}

function Zone({ calendar: { timeZone, offset } }: { calendar: CampaignCalendar }) {
  const isUtc = timeZone === 'UTC';
  return `Times are in ${timeZone}${isUtc ? '' : ` (UTC${offset})`}, the time zone of the workspace.`;
}

/** Which days are shown, and the way to others. */
function Turning({ calendar }: { calendar: CampaignCalendar }) {
  const { id: workspaceId } = useWorkspace();
  const { view, date } = calendar;
  const of = (wanted: CalendarView) => (wanted === 'week' ? { view: 'week' as const } : {});
  const turned = (by: 1 | -1) => ({ ...of(view), date: turnCalendar(date, { view, by }) });
  const to = '/w/$workspaceId/calendar';
  return (
    <Group justify="space-between" gap="sm">
      <Group gap="xs">
        <ButtonLink to={to} params={{ workspaceId }} search={turned(-1)} aria-label={`Previous ${view}`}>
          <IconChevronLeft size={16} aria-hidden />
        </ButtonLink>
        <ButtonLink to={to} params={{ workspaceId }} search={of(view)} activeProps={{}}>
          Today
        </ButtonLink>
        <ButtonLink to={to} params={{ workspaceId }} search={turned(1)} aria-label={`Next ${view}`}>
          <IconChevronRight size={16} aria-hidden />
        </ButtonLink>
        <Text fz={16} fw={600} component="h2" ml={4} aria-live="polite">
          {titleOf(calendar)}
        </Text>
      </Group>
      <Group component="nav" gap="lg" {...{ 'aria-label': 'Days shown' }}>
        {(['month', 'week'] as const).map((one) => (
          <Link
            key={one}
            to={to}
            params={{ workspaceId }}
            search={{ ...of(one), date }}
            activeProps={{}}
            activeOptions={{ exact: true }}
            aria-current={one === view ? 'page' : undefined}
            className={views.view!}
          >
            {one === 'month' ? 'Month' : 'Week'}
          </Link>
        ))}
      </Group>
    </Group>
  );
}

function titleOf({ view, date, from, days }: CampaignCalendar): string {
  if (view === 'month') return dayText(date, { month: 'long', year: 'numeric' });
  const last = new Date(Date.parse(`${from}T00:00:00Z`) + (days - 1) * 86_400_000).toISOString().slice(0, 10);
  return `${dayText(from, { day: 'numeric', month: 'short' })} to ${dayText(last, { day: 'numeric', month: 'short', year: 'numeric' })}`;
}

function Nothing({ calendar: { view } }: { calendar: CampaignCalendar }) {
  return (
    <EmptyState title={`Nothing is planned in this ${view}`}>
      Scheduled and recurring campaigns appear on each day on which they are sent.
    </EmptyState>
  );
}
