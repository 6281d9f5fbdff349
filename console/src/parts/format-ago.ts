import { formatMinute } from './format-time.ts';

const steps = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const oldest = 7 * 86_400_000;
const words = new Intl.RelativeTimeFormat('en');

/** `3 minutes ago`; what is a week old or still to come is said as a date. Of two clocks one is always a little ahead. */
export function formatAgo(at: string, { now, timeZone }: { now: number; timeZone: string }): string {
  const passed = now - Date.parse(at);
  if (Math.abs(passed) < 60_000) return 'just now';
  if (passed < 0 || passed >= oldest) return formatMinute(at, timeZone);
  const [unit, size] = steps.find((step) => passed >= step[1])!;
  return words.format(-Math.floor(passed / size), unit);
}
