/**
 * A node as main.ts starts it, except that its simulated providers may be those of another process, which outlives this one
 * and counts every request. Arguments: their origins as JSON, or nothing for its own; then the arguments of main.ts. It sends
 * its start block, and for each message what it holds in memory.
 */
import closeWithGrace from 'close-with-grace';
import { realProviderEndpoints } from '../../src/providers/registry.ts';
import type { SimulatorEndpoints } from '../../src/providers/registry.ts';
import { readConfig } from '../../src/start/config.ts';
import { startCarillon } from '../../src/start/node/start-carillon.ts';
import { measureUsage } from './measure-usage.ts';

const [origins, ...parameters] = process.argv.slice(2);
const config = readConfig({ environment: process.env, arguments: parameters });
const simulators = origins === '' ? undefined : (JSON.parse(origins!) as SimulatorEndpoints);
const providers = simulators && { providers: { ...realProviderEndpoints, simulators } };
const carillon = await startCarillon(config, providers);
closeWithGrace({ delay: 90_000, logger: false }, () => carillon.stop());
process.on('message', () => process.send?.(measureUsage()));
// The process that counts is gone.
process.on('disconnect', () => process.exit(1));
process.send?.(carillon.block);
