import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/**
 * Where a connection is cut. `unheard`: before the database hears of the commit. `unanswered`: after the commit was
 * passed on, and at once, so that the database may still be at it. `answered`: after the database committed, before
 * anybody hears that it did.
 */
export type CutWay = 'unheard' | 'unanswered' | 'answered';

/** What commits: the message that ends a transaction, or a statement that is one by itself and stores its receipt. */
type CommitKind = 'transaction' | 'statement';

/** Asked at each commit that passes; undefined lets it through. */
export type CutPlan = (kind: CommitKind) => CutWay | undefined;

export type CommitCutter = {
  /** Leads to the database behind. */
  url: string;
  /** From now on. */
  follow(plan: CutPlan): void;
  /** Cuts the next `commits` commits, in these ways in turn, and then none. */
  cutNext(commits: number, ways: readonly CutWay[]): void;
  /** Cuts every connection that is open now. */
  cutOpen(): void;
  /** How many have been cut, by way. */
  cuts(): Record<CutWay, number>;
  close(): Promise<void>;
};

/** A proxy that reads PostgreSQL's messages as they pass, and cuts the connection at the commits that the plan names. */
export async function startCommitCutter(behind: string): Promise<CommitCutter> {
  const target = new URL(behind);
  const own = new URL(behind);
  const sockets = new Set<Socket>();
  const cuts: Record<CutWay, number> = { unheard: 0, unanswered: 0, answered: 0 };
  let plan: CutPlan = () => undefined;

  const nextCut: CutPlan = (kind) => {
    const way = plan(kind);
    if (way !== undefined) cuts[way] += 1;
    return way;
  };

  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    const isCut = passCommits({ near, far, nextCut });
    near.on('end', () => far.end());
    far.on('end', () => !isCut() && near.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  own.port = String((server.address() as AddressInfo).port);
  return {
    url: own.href,
    follow(next) {
      plan = next;
    },
    cutNext(commits, ways) {
      let done = 0;
      plan = () => (done < commits ? ways[done++ % ways.length] : undefined);
    },
    cutOpen() {
      for (const socket of sockets) socket.destroy();
    },
    cuts: () => ({ ...cuts }),
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

type Pair = { near: Socket; far: Socket; nextCut: CutPlan };

function passCommits({ near, far, nextCut }: Pair): () => boolean {
  let way: CutWay | undefined;
  const asked = makeReader({ isStarting: true });
  const kindOf = makeKindOf();
  const answered = makeReader({ isStarting: false });
  near.on('data', (bytes: Buffer) => {
    for (const message of asked(bytes)) {
      if (way !== undefined) return;
      const kind = kindOf(message);
      if (kind !== undefined) way = nextCut(kind);
      if (way === 'unheard') return void near.destroy();
      far.write(message);
      if (way === 'unanswered') far.end(() => near.destroy());
    }
  });
  far.on('data', (bytes: Buffer) => {
    if (way === undefined) return void near.write(bytes);
    // From here on, the replies to the commit and to what was sent with it are dropped.
    for (const message of answered(bytes)) if (isEndOfAnswer(message)) near.destroy();
  });
  return () => way !== undefined;
}

/**
 * Cuts a stream into messages: a type of one byte, a length of four that counts itself. The first of a client, and a
 * request for encryption before it, have no type.
 */
function makeReader({ isStarting }: { isStarting: boolean }): (bytes: Buffer) => Generator<Buffer> {
  let kept: Buffer = Buffer.alloc(0);
  let typeBytes = isStarting ? 0 : 1;
  return function* read(bytes) {
    kept = kept.length === 0 ? bytes : Buffer.concat([kept, bytes]);
    while (kept.length >= typeBytes + 4) {
      const end = typeBytes + kept.readUInt32BE(typeBytes);
      if (kept.length < end) return;
      const message = kept.subarray(0, end);
      // 80877103 asks for encryption, and is followed by the real first message.
      if (typeBytes === 0 && message.readUInt32BE(4) !== 80_877_103) typeBytes = 1;
      kept = kept.subarray(end);
      yield message;
    }
  };
}

/**
 * Whether a message makes the database commit what is looked up when its answer is lost: a simple query whose text ends by
 * committing, or, outside of a transaction, the `Sync` behind a statement that stores its receipt.
 */
function makeKindOf(): (message: Buffer) => CommitKind | undefined {
  const receipted = new Set<string>();
  let [isInTransaction, isReceipted] = [false, false];
  return (message) => {
    const type = String.fromCharCode(message[0]!);
    const [first = '', second = ''] = message.toString('latin1', 5).split('\0', 2);
    if (type === 'Q') {
      const commits = /(^|;)\s*commit;?$/i.test(first);
      isInTransaction = !commits && (isInTransaction || /^\s*begin/i.test(first)) && !/^\s*rollback;?$/i.test(first);
      return commits ? 'transaction' : undefined;
    }
    // Parse: a name and a text. Bind: a portal and the name.
    if (type === 'P') {
      receipted.delete(first);
      if (second.includes('insert into transaction_receipts')) receipted.add(first);
    }
    if (type === 'B') isReceipted = receipted.has(second);
    if (type !== 'S') return undefined;
    const commits = isReceipted && !isInTransaction;
    isReceipted = false;
    return commits ? 'statement' : undefined;
  };
}

/** `ReadyForQuery`: the database has done all it was asked for. */
function isEndOfAnswer(message: Buffer): boolean {
  return message[0] === 'Z'.charCodeAt(0);
}
