import type { CampaignOccurrence, LocalTimeCount } from '../../api/generated/composer.ts';
import { formatDay, formatMinute } from '../../parts/text/format-time.ts';

const number = (value: number) => value.toLocaleString('en');
const usersText = (count: number) => `${number(count)} ${count === 1 ? 'person' : 'people'}`;

/** Describes when an occurrence is sent, for use after "It is sent". */
export function occurrenceText(occurrence: CampaignOccurrence): string {
  const { local, timeZone, at, everyZone } = occurrence;
  const day = formatDay(local.date);
  if (everyZone === null) {
    const instant = timeZone === 'UTC' ? '' : ` (${formatMinute(at, 'UTC')})`;
    return `on ${day} at ${local.time} ${timeZone}${instant}`;
  }
  return `at ${local.time} on ${day} in each person’s time zone, ${spanText(occurrence)}`;
}

/** Describes from where to where a local time passes: "from Kiribati (29 Nov 2026, 19:00 UTC) to …". */
export function spanText({ everyZone }: CampaignOccurrence): string {
  if (everyZone === null) return '';
  const { first, last, hasPassed } = everyZone;
  const place = (zone: typeof first) => `${zone.place} (${formatMinute(zone.at, 'UTC')})`;
  return hasPassed ? `from now until ${place(last)}` : `from ${place(first)} to ${place(last)}`;
}

/**
 * Describes what people get for whom the local time is not still to come, and people without a usable time zone. Without
 * a count, the rules are described without numbers.
 */
export function exceptionSentences(
  { local, timeZone, everyZone }: CampaignOccurrence,
  count: LocalTimeCount | undefined,
): string[] {
  if (everyZone === null) return [];
  const zone = `${local.time} in ${timeZone}`;
  const outcome =
    everyZone.ifPassed === 'SKIP'
      ? 'they do not get it'
      : `they get it at ${zone} (${formatMinute(everyZone.usualAt, 'UTC')})`;
  const without = `People without a time zone get it at ${zone}.`;
  if (count?.state !== 'COUNTED')
    return [...(everyZone.hasPassed ? [`Where ${local.time} has passed, ${outcome}.`] : []), without];
  const { passed, atOnce, unknownZone } = count;
  return [
    ...(passed > 0 ? [`${local.time} has passed for ${usersText(passed)}: ${outcome}.`] : []),
    ...(atOnce > 0 ? [`${local.time} passed within the last hour for ${usersText(atOnce)}: they get it at once.`] : []),
    ...(unknownZone > 0
      ? [`The stored time zone of ${usersText(unknownZone)} is not a known one: they do not get it.`]
      : []),
    without,
  ];
}
