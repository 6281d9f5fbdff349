import { parentPort } from 'node:worker_threads';
import { encryptBatch } from './encrypt.ts';

/** A thread that encrypts Web Push messages. It receives batches over its port and returns the results in the same order. */

const port = parentPort!;
port.on('message', (packed: Uint8Array<ArrayBuffer>) => {
  const results = encryptBatch(packed);
  port.postMessage(results, [results.buffer]);
});
