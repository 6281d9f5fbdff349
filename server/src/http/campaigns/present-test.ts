import type { TestResult } from '../../app/campaigns/test-campaign.ts';

/** The result for each identifier of a test: accepted, or no such user. */
export function presentTestResults(results: TestResult[]) {
  return Object.fromEntries(
    results.map(({ value, outcome }) => [
      value,
      outcome === 'found' ? { status: 'success' } : { status: 'failed', failure_reason: 'User not found' },
    ]),
  );
}
