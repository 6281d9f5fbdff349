/** Errors of journeys. Faults of a graph are CAMPAIGN_REQUEST_INVALID, like those of a campaign. */
export const journeyRegistry = {
  JOURNEY_NOT_FOUND: {
    status: 404,
    text: 'Journey not found.',
    advice: 'List the journeys of the workspace.',
  },
  JOURNEY_USER_NOT_FOUND: {
    status: 404,
    text: 'No user has this customer id.',
    advice: 'Use the id that the app identifies the user with.',
  },
  JOURNEY_NAME_TAKEN: {
    status: 409,
    text: 'A journey with this name already exists.',
    advice: 'Choose another name, or change the existing journey.',
  },
  JOURNEY_LIMITED: {
    status: 409,
    text: 'A workspace has at most 200 journeys.',
    advice: 'Change an existing journey, or remove a draft.',
  },
  JOURNEY_ACTION_INVALID: {
    status: 409,
    text: 'The journey does not allow <field>: it is <reason>.',
    advice: 'Read the journey; docs/journeys.md lists what each status allows.',
  },
  JOURNEY_USERS_AT_STEP: {
    status: 409,
    text: 'Users are at the removed step <field>.',
    advice: 'Publish with users: name a step to which they move, or null where they leave the journey.',
  },
} as const;
