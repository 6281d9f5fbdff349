import { Card, Skeleton, Stack } from '@mantine/core';

/** In the place of a table that is on its way, as high as it will be. */
export function TableSkeleton({ rows }: { rows: number }) {
  return (
    <Card withBorder role="progressbar" aria-label="Loading">
      <Stack gap="md">
        {Array.from({ length: rows }, (_, row) => (
          <Skeleton key={row} height={20} width={row === 0 ? '40%' : `${96 - ((row * 7) % 20)}%`} />
        ))}
      </Stack>
    </Card>
  );
}
