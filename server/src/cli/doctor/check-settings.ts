import { ConfigError, listChangedSettings, readConfig } from '../../start/config.ts';
import type { Config, ConfigSources } from '../../start/config.ts';
import { diagnosing } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';

const { good, wrong } = diagnosing('settings');

/** Undefined where a setting is not usable: what is looked at next would be the wrong database. */
export type CheckedSettings = { config: Config | undefined; diagnoses: Diagnosis[] };

/**
 * Every fault of the settings, not the first one only: what is faulty is left out and the rest read again. Variables that are
 * no settings keep a node from its start, and nothing else from being looked at.
 */
export function checkSettings(sources: ConfigSources): CheckedSettings {
  const environment = { ...sources.environment };
  const diagnoses: Diagnosis[] = [];
  let isUsable = true;
  for (;;) {
    try {
      const config = readConfig({ ...sources, environment });
      if (diagnoses.length > 0) return { config: isUsable ? config : undefined, diagnoses };
      const changed = listChangedSettings(config);
      const found = changed.length === 0 ? 'All are at their defaults.' : `Set: ${changed.join(', ')}.`;
      return { config, diagnoses: [good(`Usable, for a node in ${config.mode} mode. ${found}`)] };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const isUnknown = error.message.includes(' is not a setting;');
      diagnoses.push(
        wrong(error.message, isUnknown ? 'Remove or correct it.' : 'Correct it; docs/settings.md says what it takes.'),
      );
      isUsable &&= isUnknown;
      // The message begins with the variable, or names it where two belong together.
      const named = Object.keys(environment).find(
        (name) => /^(CARILLON_|DATABASE_URL)/.test(name) && new RegExp(`\\b${name}\\b`).test(error.message),
      );
      if (named === undefined) return { config: undefined, diagnoses };
      delete environment[named];
    }
  }
}
