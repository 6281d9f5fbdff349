import { Link } from '@tanstack/react-router';
import type { CampaignCalendar } from '../api/generated/campaigns.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { CalendarEntry } from './calendar-entry.tsx';
import { dayText, daysFrom } from './calendar-search.ts';
import styles from './calendar.module.css';

// A day of a month with more of them would push the weeks off the screen.
const maxOfMonthDay = 4;

/** Weeks from Monday to Sunday. */
export function CalendarGrid({ calendar }: { calendar: CampaignCalendar }) {
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
