const steps = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** `3 s`, `5 min`, `2 h`, `3 d`: how long something is, as one says it. */
export function formatDuration(milliseconds: number): string {
  const [step, unit] = steps.find(([size]) => milliseconds >= size) ?? steps[3];
  return `${Math.max(0, Math.floor(milliseconds / step))} ${unit}`;
}

/** The same between two instants of one answer, so that a browser's own clock does not matter. */
export function formatAge(at: string, now: string): string {
  return formatDuration(Date.parse(now) - Date.parse(at));
}

const units = [
  [86_400, 'd', 'day'],
  [3_600, 'h', 'hour'],
  [60, 'min', 'minute'],
  [1, 's', 'second'],
] as const;

/** How long a step of a chart is, in its largest whole unit, as it stands after "per" or "every": `minute`, `5 min`. */
export function spanText(seconds: number): string {
  const [size, unit, word] = units.find(([one]) => seconds >= one) ?? units[3];
  return seconds === size ? word : `${seconds / size} ${unit}`;
}
