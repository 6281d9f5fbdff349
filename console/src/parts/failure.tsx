import { Alert, Button } from '@mantine/core';
import { CarillonError } from '@carillon/client';

type FailureProps = {
  error: Error;
  what?: string;
  /** Repeats the request; absent if a click must not repeat it. */
  onRetry?: () => void;
};

/** Shows why a request failed, in the server's words. */
export function Failure({ error, what, onRetry }: FailureProps) {
  return (
    <Alert color="red" role="alert" title={what ?? 'Something went wrong'}>
      {failureText(error)}
      {onRetry !== undefined && (
        <Button variant="default" size="xs" mt="xs" display="block" onClick={onRetry}>
          Retry
        </Button>
      )}
    </Alert>
  );
}

export function failureText(error: Error): string {
  if (!(error instanceof CarillonError)) return `The console cannot reach its server: ${error.message}`;
  const wait = error.retryAfterSeconds === undefined ? '' : ` Try again in ${error.retryAfterSeconds} s.`;
  const faults = error.faults.map(({ message }) => ` ${message}`).join('');
  const detail =
    error.detail === undefined ? '' : ` ${error.field === undefined ? '' : `${error.field} `}${error.detail}.`;
  return `${error.message}${faults}${detail}${wait}`;
}
