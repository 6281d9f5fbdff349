const toMinute: Intl.DateTimeFormatOptions = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
};

/** `21 Nov 2026, 14:05:09 CET`; seconds are left out of a time that was planned to the minute. */
export function formatTime(at: string, timeZone: string): string {
  if (Date.parse(at) % 60_000 === 0) return formatMinute(at, timeZone);
  return new Intl.DateTimeFormat('en-GB', { ...toMinute, timeZone, second: '2-digit' }).format(new Date(at));
}

/** `21 Nov 2026, 14:05 CET`. */
export function formatMinute(at: string, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { ...toMinute, timeZone }).format(new Date(at));
}

/** `21 Nov 2026`, of a day as it is written in an address: `2026-11-21`. */
export function formatDay(date: string): string {
  const day: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' };
  return new Intl.DateTimeFormat('en-GB', day).format(new Date(`${date}T00:00:00Z`));
}

/** The second, in the zone of the workspace and in UTC. */
export function exactTime(at: string, timeZone: string): string {
  const here = formatTime(at, timeZone);
  return timeZone === 'UTC' ? here : `${here} · ${formatTime(at, 'UTC')}`;
}
