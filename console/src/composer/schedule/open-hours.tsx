import { Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { CSSProperties } from 'react';
import type { OpenHours } from '../../api/generated/composer.ts';
import { consoleClient } from '../../console.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import styles from './open-hours.module.css';

type Counted = Extract<OpenHours, { state: 'COUNTED' }>;
type Hour = Counted['hours'][number];

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const longWeekdays = ['Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays', 'Sundays'];
const hoursOfDay = Array.from({ length: 24 }, (_, hour) => hour);
const minuteMilliseconds = 60_000;

/** The hours of the week in which people open messages, darker where there are more. */
export function OpenHoursOfWeek() {
  const { id: workspaceId } = useWorkspace();
  const { data } = useQuery({
    queryKey: ['open-hours', workspaceId],
    queryFn: () => consoleClient.composer.countOpenHours(workspaceId),
    staleTime: 10 * minuteMilliseconds,
  });
  if (data === undefined) return null;
  if (data.state === 'TOO_SLOW')
    return (
      <Text size="sm">{`The hours in which messages are opened were not counted within ${data.afterSeconds} seconds.`}</Text>
    );
  return <Counted {...data} />;
}

function Counted({ hours, timeZone, days }: Counted) {
  const most = hours.reduce<Hour | undefined>(
    (best, hour) => (best && best.opens >= hour.opens ? best : hour),
    undefined,
  );
  if (most === undefined)
    return (
      <Text size="sm">{`Nobody has opened a message in the last ${days} days, so no hour is known to be better.`}</Text>
    );
  const opensAt = (weekday: number, hour: number) =>
    hours.find((one) => one.weekday === weekday && one.hour === hour)?.opens ?? 0;
  return (
    <section aria-labelledby="open-hours">
      <Title order={3} size="h6" mb={4} id="open-hours">
        When messages are opened
      </Title>
      <div className={styles.grid} aria-hidden>
        {weekdays.map((name, index) => (
          <div key={name} className={styles.day}>
            <span className={styles.name}>{name}</span>
            {hoursOfDay.map((hour) => {
              const opens = opensAt(index + 1, hour);
              const share = opens === 0 ? 0 : Math.round(15 + (85 * opens) / most.opens);
              return (
                <span
                  key={hour}
                  className={styles.hour}
                  style={{ '--share': `${share}%` } as CSSProperties}
                  title={`${name} ${formatHour(hour)}: ${opens.toLocaleString('en')} opened`}
                />
              );
            })}
          </div>
        ))}
        <div className={styles.axis}>
          {['00', '06', '12', '18'].map((hour) => (
            <span key={hour}>{hour}</span>
          ))}
        </div>
      </div>
      <Text size="sm" mt={4}>
        {`Most on ${longWeekdays[most.weekday - 1]!}, ${formatHour(most.hour)} to ${formatHour(most.hour + 1)} (${timeZone}): ${most.opens.toLocaleString('en')} opened in the last ${days} days.`}
      </Text>
    </section>
  );
}

function formatHour(hour: number): string {
  return `${String(hour % 24).padStart(2, '0')}:00`;
}
