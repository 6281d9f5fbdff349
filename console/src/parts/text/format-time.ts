const toMinute: Intl.DateTimeFormatOptions = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
};

/** Formats `21 Nov 2026, 14:05:09 CET`. Times that were planned to the minute have no seconds. */
export function formatTime(at: string, timeZone: string): string {
  if (Date.parse(at) % 60_000 === 0) return formatMinute(at, timeZone);
  return new Intl.DateTimeFormat('en-GB', { ...toMinute, timeZone, second: '2-digit' }).format(new Date(at));
}

/** `21 Nov 2026, 14:05 CET`. */
export function formatMinute(at: string, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { ...toMinute, timeZone }).format(new Date(at));
}

/** Formats `2026-11-21`, a date in an address, as `21 Nov 2026`. */
export function formatDay(date: string): string {
  const day: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' };
  return new Intl.DateTimeFormat('en-GB', day).format(new Date(`${date}T00:00:00Z`));
}

/** Formats an instant to the second, in the workspace's zone and in UTC. */
export function exactTime(at: string, timeZone: string): string {
  const here = formatTime(at, timeZone);
  return timeZone === 'UTC' ? here : `${here} · ${formatTime(at, 'UTC')}`;
}

const agoSteps = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const maxAgoMilliseconds = 7 * 86_400_000;
const agoWords = new Intl.RelativeTimeFormat('en');

/**
 * Formats `3 minutes ago`, or a date for times in the future or over a week ago. Tolerates small differences between
 * clocks.
 */
export function formatAgo(at: string, { now, timeZone }: { now: number; timeZone: string }): string {
  const passed = now - Date.parse(at);
  if (Math.abs(passed) < 60_000) return 'just now';
  if (passed < 0 || passed >= maxAgoMilliseconds) return formatMinute(at, timeZone);
  const [unit, size] = agoSteps.find((step) => passed >= step[1])!;
  return agoWords.format(-Math.floor(passed / size), unit);
}

const durationSteps = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** Formats a duration as `3 s`, `5 min`, `2 h` or `3 d`. */
export function formatDuration(milliseconds: number): string {
  const [step, unit] = durationSteps.find(([size]) => milliseconds >= size) ?? durationSteps[3];
  return `${Math.max(0, Math.floor(milliseconds / step))} ${unit}`;
}

/** Formats the duration between two instants of a response, independent of the browser's clock. */
export function formatAge(at: string, now: string): string {
  return formatDuration(Date.parse(now) - Date.parse(at));
}

const durationUnits = [
  [86_400, 'd', 'day'],
  [3_600, 'h', 'hour'],
  [60, 'min', 'minute'],
  [1, 's', 'second'],
] as const;

/** Formats the length of a chart's step for use after "per" or "every": `minute`, `5 min`. */
export function spanText(seconds: number): string {
  const [size, unit, word] = durationUnits.find(([one]) => seconds >= one) ?? durationUnits[3];
  return seconds === size ? word : `${seconds / size} ${unit}`;
}

const windowNames: Record<number, string> = { 60: ' per minute', 3600: ' per hour', 86_400: ' per 24 hours' };

/** Formats the window of a limit; empty for a limit without a window. */
export function windowName(seconds: number | null): string {
  return seconds === null ? '' : (windowNames[seconds] ?? ` per ${seconds} s`);
}
