// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type AgentToken = {
  id: string;
  name: string;

  /** The account whose rights the token has; null: the owner of a sandbox. */
  email: string | null;

  /** True: the agent may also change drafts and propose to send them. */
  mayPropose: boolean;
  createdAt: string;
  expiresAt: string;

  /** The time of the last use, exact to the minute. */
  usedAt: string | null;
};

export type AgentTokenList = {
  /** The newest first. */
  tokens: AgentToken[];
};

/** The only response that contains the token. */
export type CreatedAgentToken = {
  id: string;
  token: string;
  expiresAt: string;
};
