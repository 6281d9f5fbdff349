/**
 * A node as main.ts starts it, but for one part: the simulated providers are those of another process, which outlives this
 * one and counts every request. Arguments: their origins as JSON, then those of main.ts.
 */
import closeWithGrace from 'close-with-grace';
import { realProviderEndpoints } from '../../src/providers/registry.ts';
import type { SimulatorEndpoints } from '../../src/providers/registry.ts';
import { readConfig } from '../../src/start/config.ts';
import { startCarillon } from '../../src/start/node/start-carillon.ts';

const [origins, ...parameters] = process.argv.slice(2);
const simulators = JSON.parse(origins!) as SimulatorEndpoints;
const config = readConfig({ environment: process.env, arguments: parameters });
const carillon = await startCarillon(config, { providers: { ...realProviderEndpoints, simulators } });
closeWithGrace({ delay: 90_000, logger: false }, () => carillon.stop());
// Nobody is left to count.
process.on('disconnect', () => process.exit(1));
process.send?.(carillon.block);
