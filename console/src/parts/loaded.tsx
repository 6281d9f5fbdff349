import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';
import { Waiting } from './waiting.tsx';

/** What a query has brought; until then that it is under way, or why it failed. An answer stays while it is renewed. */
export function Loaded<Data>({
  query,
  children,
}: {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}) {
  return (
    <>
      {query.error !== null && <Failure error={query.error} />}
      {query.data === undefined ? query.error === null && <Waiting /> : children(query.data)}
    </>
  );
}
