import type { InteractionKind } from '../events/interactions.ts';

/**
 * What a user sees of a message on a simulated device that lies locked on a table: the app is in the background, and
 * the browser's window is behind others.
 */
export type Screen = {
  /**
   * `system`: none of the app's code ran. `extension`: an iPhone's service extension changed what the system shows.
   * `nobody`: the app ran, and there was nothing to display.
   */
  shownBy: 'app' | 'system' | 'extension' | 'worker' | 'nobody';
  title: string;
  body: string;
  image?: string;
  /** Captions; for an iPhone, the category under which the app registered them. */
  buttons: string[];
  /** The reports that device code can send about it. */
  reports: InteractionKind[];
};
