// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

import type { LimitUse } from './overview.ts';

/** What is as it is: ids, and what the installation's settings say. */
export type FixedSettings = {
  workspaceId: string;
  dbName: string;
  dataCenter: string;

  /** Under which callers reach the API. */
  url: string;
  headerPrefix: {
    value: string;
    setting: string;
  };
  limits: LimitUse[];
};

/** In the form users type them; `none` for a control that is not set. */
export type WorkspaceSettings = {
  name: string;

  /** IANA name. */
  timeZone: string;

  /** `2/1d,5/7d`: messages in hours or days. */
  frequencyCaps: string;

  /** `22:00-08:00`, in each person's zone. */
  quietHours: string;
  quietMode: 'HOLD' | 'DROP';

  /** Minutes between two messages to a person. */
  minimumDelay: string;

  /** The attribute that holds a person's zone. */
  zoneAttribute: string;

  /** Percent of the people that campaigns leave out which say so. */
  controlGroup: string;
  pushBodies: 'lenient' | 'strict';
  androidMode: 'data' | 'notification' | 'both';

  /** Value of `push_from` in the data of Android messages. */
  pushFrom: string;

  /** Before our keys in it; `none`: that of the installation. */
  dataPrefix: string;
};
