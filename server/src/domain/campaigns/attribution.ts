/** By what an event counts as a conversion of a campaign (fact 7). */
export const attributionTypes = [
  'VIEW_THROUGH',
  'CLICK_THROUGH',
  'IN_SESSION',
  'TOTAL_CONVERSIONS',
  'CLICK_CONVERSIONS',
] as const;
export type AttributionType = (typeof attributionTypes)[number];
