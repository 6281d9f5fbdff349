// Experiments

/**
 * Share of a workspace's users in its control group.
 * Unit: percent per workspace. Exceeded: PARAMETER_INVALID.
 * The table has the same bounds. A larger group would no longer be a control.
 */
export const maxGlobalControlPercent = 50;

/**
 * Newest runs from which a campaign learns which variation works best.
 * Unit: runs per campaign. Exceeded: Older runs are ignored.
 */
export const maxLearnedRuns = 100;

/**
 * Variations of a campaign.
 * Unit: variations per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 * The ledger stores one digit.
 */
export const maxVariations = 9;
