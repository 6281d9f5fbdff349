/** Of a workspace's users; the table has the same bounds (migration control_groups). More would be no control any more. */
export const maxGlobalControlPercent = 50;
/** So many of its newest runs a campaign learns from. */
export const maxLearnedRuns = 100;
/** Of a campaign; a digit in the ledger. */
export const maxVariations = 9;
