import { hash, timingSafeEqual } from 'node:crypto';

/** Whether this is `Bearer` and the token; its length tells nothing either. */
export function isMetricsToken(token: string, authorization: string | undefined): boolean {
  const given = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
