import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';
import { Waiting } from './waiting.tsx';

type LoadedProps<Data> = {
  query: UseQueryResult<Data>;
  /** What stands in its place until it is there. */
  waiting?: ReactNode;
  children: (data: Data) => ReactNode;
};

/** What a query has brought; until then that it is under way, or why it failed. An answer stays while it is renewed. */
export function Loaded<Data>({ query, waiting = <Waiting />, children }: LoadedProps<Data>) {
  return (
    <>
      {query.error !== null && <Failure error={query.error} onRetry={() => void query.refetch()} />}
      {query.data === undefined ? query.error === null && waiting : children(query.data)}
    </>
  );
}
