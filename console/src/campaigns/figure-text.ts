/** `41,200`. */
export function countText(count: number): string {
  return count.toLocaleString('en');
}

/** `3.2 %`, `0.04 %`, `100 %`: as many places as tell one rate from the next. */
export function percentText(percent: number): string {
  const digits = percent !== 0 && Math.abs(percent) < 1 ? 2 : 1;
  return `${percent.toLocaleString('en', { maximumFractionDigits: digits })} %`;
}

/** The share of one number of another; undefined of nothing. Reports may come of messages whose acceptance was never heard of. */
export function shareOf(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : Math.min(100, (part / whole) * 100);
}

/** `+1.2 points`: between two shares, which are not divided by each other. */
export function pointsText(points: number): string {
  const shown = Math.abs(points) < 1 ? points.toFixed(2) : points.toFixed(1);
  return `${points > 0 ? '+' : ''}${Number(shown) === 0 ? '0' : shown.replace('-', '−')} points`;
}
