import { ToneBadge } from '../parts/status-badge.tsx';

/** The number that was answered; its tone says whether the call was done. Pushes are refused with 200. */
export function CallStatus({ call: { status, errorName } }: { call: { status: number; errorName: string | null } }) {
  const isDone = errorName === null && status < 400;
  return <ToneBadge tone={isDone ? 'done' : status < 500 ? 'held' : 'failed'}>{String(status)}</ToneBadge>;
}
