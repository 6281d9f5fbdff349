import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { serveSimulators } from './serve-simulators.ts';
import type { WorkerData } from './serve-simulators.ts';

/** Runs the simulators in a separate thread, so that they use another core than the sender. */

const [data] = (await once(parentPort!, 'message')) as [WorkerData];
await serveSimulators(parentPort!, data);
