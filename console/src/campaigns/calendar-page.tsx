import { Group, Stack, Text, Card, Title, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconChevronLeft, IconChevronRight, IconRepeat } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import type { CalendarView, CampaignCalendar } from '../api/generated/campaigns.ts';
import styles from './calendar.module.css';
import { consoleClient } from '../console.ts';
import { ButtonLink } from '../parts/links.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import views from '../parts/views.module.css';
import { Waiting } from '../parts/waiting.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { dayText, turnCalendar, daysFrom } from './calendar-search.ts';

const route = getRouteApi('/w/$workspaceId/calendar');
// Narrower screens have no space for seven columns.
const wideEnough = '(min-width: 768px)';

/** Past and planned sends per day, in the workspace's zone. */
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
              <Text size="sm">The calendar cannot show every send; the campaign list has all of them.</Text>
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

/** Shows the period, and links to the previous and next one. */
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
    <EmptyState title={`Nothing is sent in this ${view}`}>
      Scheduled and recurring campaigns appear on each day on which they are sent.
    </EmptyState>
  );
}

// Limits a day of the month view, so that all weeks fit on the screen.
const maxOfMonthDay = 4;

/** Weeks from Monday to Sunday. */
function CalendarGrid({ calendar }: { calendar: CampaignCalendar }) {
  const { from, days } = calendar;
  const dates = daysFrom(from, days);
  const weeks = Array.from({ length: days / 7 }, (_, week) => dates.slice(week * 7, week * 7 + 7));
  return (
    <table className={styles.grid} aria-label="Calendar">
      <thead>
        <tr>
          {dates.slice(0, 7).map((date) => (
            <th key={date} scope="col">
              <abbr title={dayText(date, { weekday: 'long' })}>{dayText(date, { weekday: 'short' })}</abbr>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((week) => (
          <tr key={week[0]}>
            {week.map((date) => (
              <Day key={date} date={date} calendar={calendar} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Day({ date, calendar: { entries, view, today, date: asked } }: { date: string; calendar: CampaignCalendar }) {
  const { id: workspaceId } = useWorkspace();
  const own = entries.filter(({ local }) => local.date === date);
  const shown = view === 'month' ? own.slice(0, own.length > maxOfMonthDay ? maxOfMonthDay - 1 : maxOfMonthDay) : own;
  const isOther = view === 'month' && date.slice(0, 7) !== asked.slice(0, 7);
  return (
    <td data-view={view} data-today={date === today} data-other={isOther} data-date={date}>
      <time dateTime={date} className={styles.day} aria-current={date === today ? 'date' : undefined}>
        {Number(date.slice(8))}
      </time>
      {shown.length > 0 && (
        <ul className={styles.entries}>
          {shown.map((entry) => (
            <li key={`${entry.campaignId} ${entry.at}`}>
              <CalendarEntry entry={entry} />
            </li>
          ))}
        </ul>
      )}
      {shown.length < own.length && (
        <Link
          to="/w/$workspaceId/calendar"
          params={{ workspaceId }}
          search={{ view: 'week', date }}
          className={styles.more!}
          aria-label={`${own.length - shown.length} more on ${dayText(date, { day: 'numeric', month: 'long' })}`}
        >
          {own.length - shown.length} more
        </Link>
      )}
    </td>
  );
}

/** Days with sends, one below the other. */
function CalendarDays({ calendar: { from, days, entries, today } }: { calendar: CampaignCalendar }) {
  const planned = daysFrom(from, days).filter((date) => entries.some(({ local }) => local.date === date));
  return (
    <Stack gap="sm">
      {planned.map((date) => (
        <Card key={date} withBorder component="section" data-date={date}>
          <Title order={3} size="h5" mb="xs">
            {dayText(date, { weekday: 'long', day: 'numeric', month: 'long' })}
            {date === today && ', today'}
          </Title>
          <ul className={styles.entries}>
            {entries
              .filter(({ local }) => local.date === date)
              .map((entry) => (
                <li key={`${entry.campaignId} ${entry.at}`}>
                  <CalendarEntry entry={entry} />
                </li>
              ))}
          </ul>
        </Card>
      ))}
    </Stack>
  );
}

type Entry = CampaignCalendar['entries'][number];

const entryStateWords: Record<string, string> = {
  SENDING: 'Sending',
  QUEUED: 'Queued',
  SENT: 'Sent',
  STOPPED: 'Stopped',
  FAILED: 'Failed',
};
const goingStates = ['SENDING', 'QUEUED'];

/** A send that links to its campaign. */
function CalendarEntry({ entry }: { entry: Entry }) {
  const { id: workspaceId } = useWorkspace();
  const { campaignId, name, status, deliveryType, local, inEveryZone } = entry;
  const isRecurring = deliveryType !== 'ONE_TIME';
  return (
    <Link
      to="/w/$workspaceId/campaigns/$campaignId"
      params={{ workspaceId, campaignId }}
      search={{}}
      className={styles.entry!}
      data-status={entryStateWords[status] === undefined ? 'planned' : goingStates.includes(status) ? 'going' : 'over'}
      title={`${local.time}${inEveryZone ? ' in each person’s time zone' : ''} ${name}`}
    >
      <span className={styles.time}>{local.time}</span> <span className={styles.name}>{name}</span>
      {isRecurring && (
        <>
          <IconRepeat size={12} aria-hidden className={styles.repeat!} />
          <VisuallyHidden> recurring</VisuallyHidden>
        </>
      )}
      {entryStateWords[status] !== undefined && (
        <Text span size="xs" c="dimmed">
          {' '}
          {entryStateWords[status]}
        </Text>
      )}
    </Link>
  );
}
