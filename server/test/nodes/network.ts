import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

/** What a node is cut off from. Of the database alone: it goes on sending, and cannot store what became of it. */
type Cut = 'everything' | 'the database';

/** A network namespace with one way out, through a router that can drop the packets to and from it. */
export type Place = {
  address: string;
  /** Words before a command that is to run there. */
  before: string[];
  /** From here on no packet passes in either direction: neither side gets a FIN, a RST or an ICMP message. */
  cut(from: Cut): Promise<void>;
  mend(): Promise<void>;
};

export type Network = {
  /** Addresses of this machine that places reach: where the database is to listen, and all else. */
  databaseAddress: string;
  otherAddress: string;
  openPlace(): Promise<Place>;
  close(): Promise<void>;
};

const run = promisify(execFile);
/** A network of /24 for each, and one for this machine. */
const maxPlaces = 4;

/** Why this machine cannot have such places; undefined when it can. */
export function findNetworkRefusal(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces are of Linux';
  if (process.getuid?.() !== 0) return 'making network namespaces takes root';
  const missing = ['/ip', '/nsenter', '/unshare'].filter(
    (name) => !['/bin', '/sbin', '/usr/bin', '/usr/sbin'].some((folder) => existsSync(folder + name)),
  );
  return missing.length === 0 ? undefined : `there is no ${missing.join(', ')}`;
}

/**
 * This machine and a router in a separate namespace, with a pair of virtual interfaces between them. Nothing of the
 * machine's own network is changed but for one more interface and its routes, and all of it ends with this process: a
 * namespace is held by a program that ends with its standard input, and the interfaces end with the namespace.
 */
export async function openNetwork(): Promise<Network> {
  // Reserved for tests of network equipment (RFC 2544 Appendix C); two runs at a time have different ones.
  const first = (process.pid % 50) * (maxPlaces + 1);
  const net = (part: number): string => `198.18.${first + part}`;
  const name = `cn${process.pid}`;
  const router = await holdNamespace();
  const holders = [router];
  const [databaseAddress, otherAddress] = [`${net(0)}.1`, `${net(0)}.2`];
  const routerAddress = `${net(0)}.254`;
  const close = async (): Promise<void> => {
    for (const holder of holders) await holder.release();
  };
  try {
    await ip([], `link add ${name} type veth peer name host netns ${router.pid}`);
    for (const address of [databaseAddress, otherAddress]) await ip([], `addr add ${address}/24 dev ${name}`);
    await ip([], `link set ${name} up`);
    await ip(router.before, `addr add ${routerAddress}/24 dev host`);
    await ip(router.before, 'link set host up');
    await runIn(router.before, 'sysctl -qw net.ipv4.ip_forward=1');
  } catch (error) {
    await close();
    throw error;
  }

  let places = 0;
  async function openPlace(): Promise<Place> {
    const part = (places += 1);
    if (part > maxPlaces) throw new Error(`no more than ${maxPlaces} places`);
    const holder = await holdNamespace();
    holders.push(holder);
    const { before, pid } = holder;
    const address = `${net(part)}.2`;
    await ip(router.before, `link add place${part} type veth peer name out netns ${pid}`);
    await ip(router.before, `addr add ${net(part)}.1/24 dev place${part}`);
    await ip(router.before, `link set place${part} up`);
    await ip(before, `addr add ${address}/24 dev out`);
    await ip(before, 'link set out up');
    await ip(before, 'link set lo up');
    await ip(before, `route add default via ${net(part)}.1`);
    await ip([], `route add ${net(part)}.0/24 via ${routerAddress}`);
    const preference = 100 + part;
    return {
      address,
      before,
      async cut(from) {
        const [there, back] = from === 'everything' ? ['', ''] : [`to ${databaseAddress}`, `from ${databaseAddress}`];
        // A blackhole says nothing, where an unreachable route would send ICMP messages.
        await ip(router.before, `rule add pref ${preference} from ${address} ${there} blackhole`);
        await ip(router.before, `rule add pref ${preference} to ${address} ${back} blackhole`);
      },
      async mend() {
        for (let rules = 2; rules > 0; rules -= 1) await ip(router.before, `rule del pref ${preference}`);
      },
    };
  }
  return { databaseAddress, otherAddress, openPlace, close };
}

type Holder = { pid: number; before: string[]; release(): Promise<void> };

/** A namespace exists as long as a process is in it. */
async function holdNamespace(): Promise<Holder> {
  const holder: ChildProcess = spawn('unshare', ['--net', 'sh', '-c', 'echo made; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(holder, 'close');
  const isMade = await Promise.race([once(holder.stdout!, 'data'), ended.then(() => undefined)]);
  if (!isMade) throw new Error('no network namespace could be made');
  return {
    pid: holder.pid!,
    before: ['nsenter', `--net=/proc/${holder.pid}/ns/net`],
    async release() {
      holder.stdin!.end();
      await ended;
    },
  };
}

async function ip(before: string[], words: string): Promise<void> {
  await runIn(before, `ip ${words}`);
}

async function runIn(before: string[], command: string): Promise<void> {
  const words = [...before, ...command.split(' ').filter(Boolean)];
  await run(words[0]!, words.slice(1));
}
