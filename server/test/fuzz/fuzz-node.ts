/**
 * A node of role `all` as main.ts starts it, in a process of its own with `--expose-gc`. It sends its start block, and for
 * each message it gets what it holds after a collection.
 */
import closeWithGrace from 'close-with-grace';
import { readConfig } from '../../src/start/config.ts';
import { startCarillon } from '../../src/start/node/start-carillon.ts';
import { measureUsage } from './measure-usage.ts';

const config = readConfig({ environment: process.env, arguments: ['--port', '0', '--seed', '7'] });
const carillon = await startCarillon(config);
closeWithGrace({ delay: 30_000, logger: false }, () => carillon.stop());
process.on('message', () => process.send?.(measureUsage()));
process.send?.({ url: carillon.block.url, workspaceId: carillon.block.workspaceId, keys: carillon.block.keys });
// Whoever asked for this node is gone.
process.on('disconnect', () => process.exit(0));
