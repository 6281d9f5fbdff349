// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { LimitUse } from './overview.ts';

/** What is as it is: ids, and what the installation's settings say. */
export type FixedSettings = {
  workspaceId: string;
  dbName: string;
  dataCenter: string;

  /** The address under which callers reach the API. */
  url: string;
  headerPrefix: {
    value: string;
    setting: string;
  };
  limits: LimitUse[];
};

/** Settings in the form in which users type them; `none` for a control that is not set. */
export type WorkspaceSettings = {
  name: string;

  /** The IANA name of the time zone. */
  timeZone: string;

  /** `2/1d,5/7d`: messages in hours or days. */
  frequencyCaps: string;

  /** As in `22:00-08:00`, in each user's time zone. */
  quietHours: string;
  quietMode: 'HOLD' | 'DROP';

  /** The minutes between two messages to a user. */
  minimumDelay: string;

  /** The attribute that holds a user's time zone. */
  zoneAttribute: string;

  /** Percent of the users that are left out by campaigns with a control group. */
  controlGroup: string;
  pushBodies: 'lenient' | 'strict';
  androidMode: 'data' | 'notification' | 'both';

  /** Value of `push_from` in the data of Android messages. */
  pushFrom: string;

  /** The prefix of our keys in that data; `none` for the prefix of the installation. */
  dataPrefix: string;
};
