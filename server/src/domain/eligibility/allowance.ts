/** At most so many messages to a user within so many minutes, counted back from each send. */
export type Allowance = { messages: number; minutes: number };
