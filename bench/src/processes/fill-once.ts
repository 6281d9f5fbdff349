/**
 * Processes the segment operations that are due, and prints how long the last one took and how much memory this process used.
 * Earlier operations warm up the runtime.
 */
import { setTimeout } from 'node:timers/promises';
import { makeClock } from '../../../server/src/clock.ts';
import { makeOutcomeBuffer } from '../../../server/src/engine/jobs/outcome-buffer.ts';
import { makeOutgoingClient } from '../../../server/src/outgoing/client.ts';
import { makeFillSegments } from '../../../server/src/engine/segment-fill/fill-segments.ts';
import { makeLog } from '../../../server/src/log.ts';
import { openDatabase } from '../../../server/src/storage/database.ts';
import { readDatabaseClock } from '../../../server/src/storage/installation/database-clock.ts';

const database = openDatabase({ url: process.argv[2]!, connections: 4, name: 'fill-once' });
const clock = makeClock();
clock.anchor(await readDatabaseClock(database));
const log = makeLog({ level: 'warn', pretty: false });
const outgoing = makeOutgoingClient({ allowedNetworks: ['127.0.0.0/8'] });
const fills = makeFillSegments({
  database,
  clock,
  log,
  outgoing,
  outcomes: makeOutcomeBuffer({ log, pause: (milliseconds) => setTimeout(milliseconds) }),
  owner: 'bench',
  usersPerDay: 1_000_000_000,
  emailState: 'KEPT',
  onEnded: () => {},
});
let seconds = 0;
for (let left = Number(process.argv[3] ?? 1); left > 0;) {
  const startedAt = performance.now();
  const started = await fills.runOnce(clock.now());
  if (started === 0) throw new Error('no operation is due');
  left -= started;
  // A run starts the fills, which continue in the background.
  await fills.settled();
  seconds = (performance.now() - startedAt) / 1000;
}
// maxRSS is in kilobytes.
const rssMegabytes = Math.round(process.resourceUsage().maxRSS / 1024);
process.stdout.write(JSON.stringify({ seconds, rssMegabytes }));
await outgoing.close();
await database.end();
