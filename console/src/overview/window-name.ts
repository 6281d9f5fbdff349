const names: Record<number, string> = { 60: ' per minute', 3600: ' per hour', 86_400: ' per 24 hours' };

/** How a limit's window is said after its name; nothing when it holds at any one time. */
export function windowName(seconds: number | null): string {
  return seconds === null ? '' : (names[seconds] ?? ` per ${seconds} s`);
}
