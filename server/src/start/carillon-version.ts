import manifest from '../../package.json' with { type: 'json' };

/** The version of this server, read from its manifest. */
export const carillonVersion = manifest.version;
