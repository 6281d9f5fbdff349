import { findFreePort } from './find-free-port.ts';
import { StartError } from './start-errors.ts';

/** What a start says of a port that it cannot listen on; any other fault as it is. */
export async function toPortTaken(
  error: unknown,
  { host, port, flag }: { host: string; port: number; flag: string },
): Promise<unknown> {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    const free = await findFreePort({ host, above: port });
    const another =
      free === undefined ? `another with ${flag}` : `another with ${flag}, such as ${flag} ${free}, which is free`;
    return new StartError('PORT_TAKEN', `Port ${port} on ${host} is taken; choose ${another}.`, error);
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return new StartError('PORT_TAKEN', `Port ${port} on ${host} cannot be used: ${message}.`, error);
  return error;
}
