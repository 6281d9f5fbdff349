import { Card, Stack, Title } from '@mantine/core';
import type { CampaignCalendar } from '../api/generated/campaigns.ts';
import { CalendarEntry } from './calendar-entry.tsx';
import { dayText, daysFrom } from './calendar-search.ts';
import styles from './calendar.module.css';

/** The days on which something is sent, one below the other. */
export function CalendarDays({ calendar: { from, days, entries, today } }: { calendar: CampaignCalendar }) {
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
