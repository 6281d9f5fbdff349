/**
 * A node of role `all` as main.ts starts it, on its own embedded database, but for one part: the simulated providers are
 * those of the process that started it, which outlives this one and counts every request. Arguments: their origins as JSON.
 */
import closeWithGrace from 'close-with-grace';
import { realProviderEndpoints } from '../../src/engine/delivery/delivery-endpoints.ts';
import type { SimulatorEndpoints } from '../../src/engine/delivery/delivery-endpoints.ts';
import { readConfig } from '../../src/start/config.ts';
import { startCarillon } from '../../src/start/start-carillon.ts';

const simulators = JSON.parse(process.argv[2]!) as SimulatorEndpoints;
const config = readConfig({ environment: process.env, arguments: ['--port', '0'] });
const carillon = await startCarillon(config, { providers: { ...realProviderEndpoints, simulators } });
closeWithGrace({ delay: 90_000, logger: false }, () => carillon.stop());
process.send?.(carillon.block);
