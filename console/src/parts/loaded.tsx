import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';
import { Waiting } from './waiting.tsx';

type LoadedProps<Data> = {
  query: UseQueryResult<Data>;
  /** Shown until the data has loaded. */
  waiting?: ReactNode;
  children: (data: Data) => ReactNode;
};

/** Shows the data of a query, its error, or a placeholder. A refetch keeps the previous data. */
export function Loaded<Data>({ query, waiting = <Waiting />, children }: LoadedProps<Data>) {
  return (
    <>
      {query.error !== null && <Failure error={query.error} onRetry={() => void query.refetch()} />}
      {query.data === undefined ? query.error === null && waiting : children(query.data)}
    </>
  );
}
