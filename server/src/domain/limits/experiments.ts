/**
 * Percent of a workspace's users; the table has the same bounds (migration control_groups). A larger group would no
 * longer be a control.
 */
export const maxGlobalControlPercent = 50;
/** The number of newest runs that a campaign learns from. */
export const maxLearnedRuns = 100;
/** Variations of a campaign; the ledger stores one digit. */
export const maxVariations = 9;
