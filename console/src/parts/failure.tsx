import { Alert } from '@mantine/core';
import { CarillonError } from '@carillon/client';

/** Why something could not be shown or done, in the words of the server. */
export function Failure({ error, what }: { error: Error; what?: string }) {
  return (
    <Alert color="red" role="alert" title={what ?? 'Something went wrong'}>
      {failureText(error)}
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
