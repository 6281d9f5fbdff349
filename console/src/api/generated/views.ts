// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type SavedView = {
  id: string;
  name: string;

  /** The query string of the screen. */
  search: string;
};

export type ViewList = {
  views: SavedView[];
};
