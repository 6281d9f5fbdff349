import { Card, Group, Skeleton, Text, Title } from '@mantine/core';
import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { UserCounts, Week } from '../api/generated/overview.ts';
import { percentText, pointsText, shareOf } from '../campaigns/report/figures.ts';
import { consoleClient } from '../console.ts';
import { Loaded } from '../parts/loaded.tsx';
import { RouteLink } from '../parts/links.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import styles from './overview.module.css';

function useWeek(workspaceId: string) {
  return useQuery({
    queryKey: ['overview-week', workspaceId],
    queryFn: () => consoleClient.overview.readWeek(workspaceId),
    refetchInterval: 5_000,
  });
}

/** Four figures of the last seven days, with their change from the seven days before. */
export function WeekFigures({ workspaceId }: { workspaceId: string }) {
  const week = useWeek(workspaceId);
  // The server counts once a minute, because the count reads every device.
  const users = useQuery({
    queryKey: ['people-counts', workspaceId],
    queryFn: () => consoleClient.overview.countUsers(workspaceId),
    refetchInterval: 60_000,
  });
  return (
    <section className={styles.figures} aria-label="The last seven days">
      <Loaded query={week} waiting={<Skeletons count={3} />}>
        {(data) => <SentFigures week={data} />}
      </Loaded>
      <Loaded query={users} waiting={<Skeletons count={1} />}>
        {(counts) => <AudienceFigure counts={counts} />}
      </Loaded>
    </section>
  );
}

function Skeletons({ count }: { count: number }) {
  return Array.from({ length: count }, (_, index) => <Skeleton key={index} height={104} radius="lg" animate={false} />);
}

type Sums = Week['before'];

function SentFigures({ week: { days, before, isPartial } }: { week: Week }) {
  const sums = days.reduce<Sums>(
    (total, day) => ({
      tried: total.tried + day.tried,
      accepted: total.accepted + day.accepted,
      clicked: total.clicked + day.clicked,
    }),
    { tried: 0, accepted: 0, clicked: 0 },
  );
  // Shares of the newest sends can be compared; their numbers cannot.
  const growth = isPartial ? undefined : shareOf(sums.accepted - before.accepted, before.accepted);
  return (
    <>
      <Figure
        name="Sent"
        value={sums.accepted.toLocaleString('en')}
        note={isPartial ? 'of the newest 20,000 sends' : 'accepted by providers'}
        change={
          growth === undefined
            ? undefined
            : { by: growth, text: percentText(Math.abs(growth)), isGoodIfMore: undefined }
        }
      />
      <ShareFigure
        name="Accepted"
        note="of sent messages"
        part={({ accepted }) => accepted}
        {...{ sums, before }}
        of="tried"
      />
      <ShareFigure
        name="Clicked"
        note="of accepted"
        part={({ clicked }) => clicked}
        {...{ sums, before }}
        of="accepted"
      />
    </>
  );
}

type ShareFigureProps = {
  name: string;
  note: string;
  part: (sums: Sums) => number;
  of: 'tried' | 'accepted';
  sums: Sums;
  before: Sums;
};

function ShareFigure({ name, note, part, of, sums, before }: ShareFigureProps) {
  const share = shareOf(part(sums), sums[of]);
  const earlier = shareOf(part(before), before[of]);
  const by = share === undefined || earlier === undefined ? undefined : share - earlier;
  return (
    <Figure
      name={name}
      value={share === undefined ? '–' : percentText(share)}
      note={note}
      change={
        by === undefined ? undefined : { by, text: pointsText(Math.abs(by)).replace(/^\+/, ''), isGoodIfMore: true }
      }
    />
  );
}

function AudienceFigure({ counts: { users, newUsers, devices } }: { counts: UserCounts }) {
  const { id: workspaceId } = useWorkspace();
  const reachable = devices.filter(({ state }) => state === 'ACTIVE').reduce((sum, row) => sum + row.devices, 0);
  return (
    <Figure
      name="Audience"
      value={
        <RouteLink to="/w/$workspaceId/people" params={{ workspaceId }} search={{}}>
          {users.toLocaleString('en')}
        </RouteLink>
      }
      note={`${users === 1 ? 'person' : 'people'}, ${reachable.toLocaleString('en')} reachable ${reachable === 1 ? 'device' : 'devices'}`}
      change={
        newUsers === 0 ? undefined : { by: newUsers, text: `${newUsers.toLocaleString('en')} new`, isGoodIfMore: true }
      }
    />
  );
}

type Change = {
  by: number;
  text: string;
  /** Undefined if neither direction is good. */
  isGoodIfMore: true | undefined;
};

type FigureProps = { name: string; value: ReactNode; note: string; change: Change | undefined };

function Figure({ name, value, note, change }: FigureProps) {
  return (
    <Card withBorder p="md" role="group" aria-label={name}>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Group gap={8} align="baseline" mt={2}>
        <Text fz={28} lh="36px" fw={600} component="div" style={{ fontVariantNumeric: 'tabular-nums' }}>
          {value}
        </Text>
        {change !== undefined && <ChangeMark change={change} />}
      </Group>
      <Text size="xs" c="dimmed">
        {note}
      </Text>
    </Card>
  );
}

function ChangeMark({ change: { by, text, isGoodIfMore } }: { change: Change }) {
  const isMore = by >= 0;
  const Icon = isMore ? IconArrowUpRight : IconArrowDownRight;
  const tone = isGoodIfMore === undefined || by === 0 ? 'neutral' : isMore ? 'good' : 'bad';
  return (
    <Text size="xs" component="span" className={styles.change!} data-tone={tone}>
      <Icon size={14} role="img" aria-label={isMore ? 'More by' : 'Less by'} />
      {text}
    </Text>
  );
}

/** The messages of each of the last seven days, as bars with their numbers. */
export function WeekChart({ workspaceId }: { workspaceId: string }) {
  const week = useWeek(workspaceId);
  return (
    <Card withBorder component="section" aria-label="Messages per day" h="100%">
      <Group justify="space-between" mb="sm" wrap="nowrap" align="baseline">
        <Title order={2} size="h5">
          Messages per day
        </Title>
        <Legend />
      </Group>
      <Loaded query={week} waiting={<Skeleton height={190} animate={false} />}>
        {({ days }) => <Bars days={days} />}
      </Loaded>
    </Card>
  );
}

function Legend() {
  return (
    <Group gap="sm" fz="xs" c="dimmed">
      <span className={styles.legend}>Accepted</span>
      <span className={styles.legend} data-part="missed">
        Not delivered
      </span>
    </Group>
  );
}

const barPixels = 130;

function Bars({ days }: { days: Week['days'] }) {
  const most = Math.max(1, ...days.map(({ tried }) => tried));
  // Every part that is there is visible.
  const heightOf = (count: number): number => (count === 0 ? 0 : Math.max(3, Math.round((count / most) * barPixels)));
  return (
    <div className={styles.chart} role="list">
      {days.map(({ date, tried, accepted }, index) => {
        const missed = tried - accepted;
        const isToday = index === days.length - 1;
        return (
          <div key={date} className={styles.day} role="listitem">
            <span>{accepted === 0 && missed === 0 ? '' : accepted.toLocaleString('en', shortly(accepted))}</span>
            <span
              className={styles.bar}
              style={{ height: tried === 0 ? 3 : undefined }}
              title={`${dayName(date, 'long')}: ${accepted.toLocaleString('en')} accepted, ${missed.toLocaleString('en')} not delivered`}
            >
              <span className={styles.missed} style={{ height: heightOf(missed) }} />
              <span className={styles.accepted} style={{ height: heightOf(accepted) }} />
            </span>
            <span className={isToday ? styles.today : styles.date}>{isToday ? 'Today' : dayName(date, 'short')}</span>
          </div>
        );
      })}
    </div>
  );
}

/** Large numbers are shortened to fit above their bars: 1.2M. */
function shortly(count: number): Intl.NumberFormatOptions {
  return count < 100_000 ? {} : { notation: 'compact', maximumFractionDigits: 1 };
}

function dayName(date: string, weekday: 'short' | 'long'): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', weekday, day: 'numeric' }).format(
    new Date(`${date}T00:00:00Z`),
  );
}
