import type { TestResult } from '../../app/campaigns/test-campaign.ts';

/** What became of each identifier of a test: accepted, or nobody has it. */
export function presentTestResults(results: TestResult[]) {
  return Object.fromEntries(
    results.map(({ value, outcome }) => [
      value,
      outcome === 'found' ? { status: 'success' } : { status: 'failed', failure_reason: 'User not found' },
    ]),
  );
}
