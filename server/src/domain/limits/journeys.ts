// Journeys

/** Journeys of a workspace, stopped ones included. Unit: journeys per workspace. Exceeded: JOURNEY_LIMITED. */
export const maxJourneys = 200;
/** Steps of a journey. Unit: steps per journey. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxJourneySteps = 100;
/** Ways out of a random split. Unit: ways per step. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxSplitWays = 10;
/** A wait, and the timeout of a wait for an event. Unit: days per step. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxJourneyWaitDays = 366;
/** Entries of one person that may be inside a journey together. Unit: entries per person. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxEntriesAtATime = 10;
/** Attributes that an update step changes. Unit: attributes per step. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxJourneyAttributes = 50;
/** People that one request lets enter. Unit: people per request. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxJourneyEntries = 1_000;
/** Length of a journey's name. Unit: characters per name. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxJourneyNameCharacters = 150;
/** How long an ended entry and the steps it passed are kept. Unit: days per entry, from its end. Exceeded: The entry is deleted with its history. */
export const journeyHistoryDays = 180;
