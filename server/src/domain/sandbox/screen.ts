import type { InteractionKind } from '../events/interactions.ts';

/**
 * What a person saw of a message on a simulated device that lay locked on a table: the app is in the background, the
 * browser's window behind others.
 */
export type Screen = {
  /**
   * `system`: none of the app's code ran. `extension`: an iPhone's service extension changed what the system shows.
   * `nobody`: the app ran, and there was nothing to show.
   */
  shownBy: 'app' | 'system' | 'extension' | 'worker' | 'nobody';
  title: string;
  body: string;
  image?: string;
  /** Captions; of an iPhone the category, under which the app knows them. */
  buttons: string[];
  /** What device code can report of it. */
  reports: InteractionKind[];
};
