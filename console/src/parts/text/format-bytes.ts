const steps = [
  [1024 ** 4, 'TB'],
  [1024 ** 3, 'GB'],
  [1024 ** 2, 'MB'],
  [1024, 'kB'],
] as const;

/** `1.4 GB`. */
export function formatBytes(bytes: number): string {
  const [size, unit] = steps.find(([min]) => bytes >= min) ?? [1, 'bytes'];
  const value = bytes / size;
  return `${value >= 100 || size === 1 ? Math.round(value) : value.toFixed(1)} ${unit}`;
}
