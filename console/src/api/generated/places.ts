// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

/** A screen that a word leads to. */
export type Place = {
  kind: PlaceKind;

  /** The id in the address of the screen: for a run the id of its campaign, for a device the id of its user. */
  id: string;
  name: string;
  detail: string | null;
};

export type PlaceKind =
  'campaign' | 'run' | 'segment' | 'user' | 'device' | 'delivery' | 'call' | 'callback' | 'email' | 'key';
