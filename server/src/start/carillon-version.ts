import manifest from '../../package.json' with { type: 'json' };

/** The version of this server, as its manifest says. */
export const carillonVersion = manifest.version;
