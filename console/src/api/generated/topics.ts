// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type Topic = {
  /** The name in requests and campaigns. */
  key: string;
  name: string;
  description: string;

  /** True if users without a choice are in the topic. */
  isInByDefault: boolean;

  /** The order in lists, then by key. */
  position: number;
  createdAt: string;
};

export type TopicList = {
  /** In the order in which users see them. */
  topics: Topic[];
};

export type UserTopic = {
  /** The name in requests and campaigns. */
  key: string;
  name: string;
  description: string;

  /** True if users without a choice are in the topic. */
  isInByDefault: boolean;

  /** True if the user is in the topic. */
  isIn: boolean;

  /** Null: the user made no choice and follows the default. */
  chosenAt: string | null;

  /** Where the choice was made. */
  source: 'API' | 'APP' | 'PAGE' | 'CONSOLE' | 'IMPORT' | null;
};

export type UserTopics = {
  topics: UserTopic[];
};
