/** The result of `work`, or the signal's reason if that comes first. */
export async function before<T>(limit: AbortSignal, work: Promise<T>): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(limit.reason);
  if (limit.aborted) stop();
  limit.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    // A signal may live as long as the process.
    limit.removeEventListener('abort', stop);
  }
}
