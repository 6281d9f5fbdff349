import { randomBytes } from 'node:crypto';
import { createStartLink } from '../app/accounts/create-start-link.ts';
import { makePasswordHash } from '../app/accounts/password-hash.ts';
import { makeReadyCurl } from '../app/sandbox/make-ready-curl.ts';
import { makeFollowDatabaseClock } from '../engine/housekeeping/follow-database-clock.ts';
import { startJob } from '../engine/job.ts';
import { makeJobBook } from '../engine/job-book.ts';
import type { Composition } from './composition.ts';
import { startEngine, startReporter } from './engine.ts';
import { startHttpServer } from './http-server.ts';
import { findJobTroubles, makeReadiness } from './readiness.ts';
import { makeRoutes } from './routes.ts';
import { prepareDemo, startPhones } from './sandbox.ts';
import type { StartBlock } from './start-block.ts';

export type RunningNode = {
  /** What a user or a test needs to use it. */
  block: StartBlock;
  /** One more address of the console with a one-time link, as the one of the block. */
  createConsoleLink(): Promise<string>;
};

/** Starts what the roles of this node ask for: the engine of a worker, the routes of an API; the stand-in in a sandbox. */
export async function startRoles(composition: Composition): Promise<RunningNode> {
  const { config, clock, log, installation, started, stopRequested } = composition;
  const { acrossWorkspaces: database, encryption, wallFault } = installation;
  const demo = await prepareDemo(composition);
  stopRequested.throwIfAborted();
  const phones = config.mode === 'sandbox' ? await startPhones(composition) : undefined;
  const readiness = makeReadiness(database);
  const parts = { phones, readiness, book: makeJobBook(), nodeId: randomBytes(9).toString('base64url') };
  readiness.watch(() => findJobTroubles(parts.book));
  const worker = config.role === 'api' ? undefined : await startEngine(composition, parts);
  stopRequested.throwIfAborted();
  const reporter = await startReporter(composition, parts);
  const onClockMoved = (): void => {
    // The inbox shows the time of the service from the same instant on.
    phones?.syncClock();
    worker?.wake();
    reporter.wake();
  };
  const followClock = makeFollowDatabaseClock({ database, clock, onMoved: onClockMoved });
  started.push(startJob(followClock, { clock, log, book: parts.book }));

  const readyCurl = makeReadyCurl({ database, encryption });
  const accounts = {
    database,
    clock,
    passwords: makePasswordHash(),
    passwordSignIn: config.passwordSignIn,
    isSandbox: config.mode === 'sandbox',
  };
  const families = makeRoutes(composition, { accounts, phones, demo, readiness, readyCurl, onClockMoved });
  stopRequested.throwIfAborted();
  const url = await startHttpServer(composition, { families, readiness });
  if (wallFault !== undefined) log.warn({ fault: wallFault }, 'row-level security does not divide the workspaces');
  const createConsoleLink = async (): Promise<string> => {
    const link = await createStartLink(accounts);
    return `${url}/console/${link ? `#${link.kind}=${link.code}` : ''}`;
  };
  return {
    block: {
      url,
      console: await createConsoleLink(),
      workspaceId: demo?.workspaceId,
      dbName: demo?.dbName,
      keys: demo?.keys,
      inbox: phones ? `${url}/sandbox/inbox` : undefined,
      databaseUrl: installation.databaseUrl,
      databasePlace: installation.databasePlace,
      wallFault: installation.wallFault,
      curl: demo && (await readyCurl({ workspaceId: demo.workspaceId, url })),
    },
    createConsoleLink,
  };
}
