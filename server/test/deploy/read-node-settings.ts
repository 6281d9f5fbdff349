import { join } from 'node:path';
import { readConfig } from '../../src/start/config.ts';
import type { Config } from '../../src/start/config.ts';

export type DescribedNode = {
  /** The words after the image's own: a command of `carillon` and its options. */
  words: readonly string[];
  environment: Record<string, string>;
  /** Where files of secrets are mounted there, and where they lie here. */
  secrets: { mountedAt: string; folder: string };
};

/** What a node would be given as its environment, with the secrets' files as they lie here. */
export function environmentHere({ environment, secrets }: DescribedNode): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) =>
      value.startsWith(`${secrets.mountedAt}/`)
        ? [name, join(secrets.folder, value.slice(secrets.mountedAt.length + 1))]
        : [name, value],
    ),
  );
}

/** As the product reads it. @throws ConfigError for a variable that is no setting, or a value that it does not take */
export function readNodeSettings(node: DescribedNode): Config {
  return readConfig({ environment: environmentHere(node), arguments: node.words.slice(1) });
}
