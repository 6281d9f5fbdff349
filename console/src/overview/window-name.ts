const names: Record<number, string> = { 60: ', in a minute', 3600: ', in an hour', 86_400: ', in 24 hours' };

/** How a limit's window is said after its name; nothing when it holds at any one time. */
export function windowName(seconds: number | null): string {
  return seconds === null ? '' : (names[seconds] ?? `, in ${seconds} s`);
}
