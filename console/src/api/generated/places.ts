// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

/** A screen that a word leads to. */
export type Place = {
  kind: PlaceKind;

  /** What the address of the screen has; of a run its campaign, of a device its user. */
  id: string;
  name: string;
  detail: string | null;
};

export type PlaceKind =
  'campaign' | 'run' | 'segment' | 'user' | 'device' | 'delivery' | 'call' | 'callback' | 'email' | 'key';
