/** Screens whose searches may be saved under a name; the words of the table. */
export const viewedScreens = ['campaigns', 'segments', 'deliveries', 'calls', 'audit'] as const;
export type ViewedScreen = (typeof viewedScreens)[number];
