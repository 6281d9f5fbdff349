/** A number with so many digits behind its point, 0 to 20; in the very middle the even one, as Python. */
export function toDigits(number: number, digits: number): string {
  const text = number.toFixed(digits);
  // Such a number is an odd number of halves, quarters, eighths …; every other one has a nearest neighbour.
  const isTie = Math.abs(number * 2 ** (digits + 1)) % 2 === 1;
  if (!isTie || /[02468]$/.test(text)) return text;
  return number.toFixed(digits + 1).replace(/\.?5$/, '');
}
