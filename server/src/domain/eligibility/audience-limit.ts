/** To how many users a campaign is sent: in all of its runs together, or in each. A user counts once a run. */
export type AudienceLimit = { users: number; of: 'CAMPAIGN' | 'RUN' };
