import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ReportLimit } from '../../domain/interactions/limits.ts';
import { passReport } from '../../domain/interactions/pass-report.ts';

export type LimitReports = {
  /** @throws ServiceError INTERACTION_RATE_LIMITED */
  check(subject: string): void;
};

// About 20 MB at most.
const maxSubjects = 100_000;

/**
 * Keeps a limit in this process's memory: a row in the database would cost as much as the report it guards against.
 * Several nodes together let through as many times the limit.
 */
export function makeLimitReports(
  limit: ReportLimit,
  { clock, what }: { clock: Clock; what: 'token' | 'address' },
): LimitReports {
  const fullAtOf = new Map<string, number>();
  return {
    check(subject) {
      const now = clock.now().getTime();
      const passed = passReport(limit, { fullAt: fullAtOf.get(subject), now });
      if ('retryAfterSeconds' in passed) {
        throw new ServiceError('INTERACTION_RATE_LIMITED', { ...passed, detail: `limit of the ${what}` });
      }
      // The map's order is that of the last report, so the first subject is the one silent for longest.
      fullAtOf.delete(subject);
      fullAtOf.set(subject, passed.fullAt);
      if (fullAtOf.size > maxSubjects) fullAtOf.delete(fullAtOf.keys().next().value!);
    },
  };
}
