/** A browser's subscription, as the service stores it. */
export type Subscription = { endpoint?: string; keys?: Record<string, string> };

/** What waits for the service, in the order in which it happened. */
export type Item = { at: number } & (
  | { kind: 'register' }
  | { kind: 'change'; body: Record<string, unknown> }
  /** `isWaiting`: the token was refused, or the service lost the user; only another login goes on. */
  | { kind: 'identify'; user: string; token?: string | undefined; isWaiting?: boolean }
  | { kind: 'logout' }
  | { kind: 'report'; user: string | undefined; body: Record<string, unknown> }
  | { kind: 'receipt'; body: Record<string, unknown> }
);

export type State = {
  appKey: string;
  host: string;
  /** Made here and kept here: they prove this installation. */
  id: string;
  secret: string;
  isRegistered: boolean;
  isOptedIn: boolean;
  subscription: Subscription | null;
  /** A subscription that another device holds: the service sends a code to it, which proves that it is this browser's. */
  held?: { subscription: Subscription; at: number } | undefined;
  /** The code that arrived. */
  challenge?: string | undefined;
  /** With which key the browser subscribes, as the service said. */
  publicKey?: string | undefined;
  /** Who is signed in on this site. */
  user?: string | undefined;
  /** Who is signed in at the service. */
  serviceUser?: string | undefined;
  /** A logout has not reached the service yet: what still arrives is for the user who left, and is not shown. */
  isHushed: boolean;
  failures: number;
  waitUntil: number;
  queue: Item[];
};

const storeName = 'state';
const recordKey = 'carillon';
/** The oldest events are dropped from a queue that nothing has emptied. */
const maxItems = 1_000;

let opened: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('carillon', 1);
    request.onupgradeneeded = () => request.result.createObjectStore(storeName);
    request.onsuccess = () => {
      // Another tab may delete the database, as "clear site data" does.
      request.result.onversionchange = () => {
        request.result.close();
        opened = undefined;
      };
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
  });
  return opened;
}

/** Returns the state; undefined before the first start. */
export async function read(): Promise<State | undefined> {
  const database = await open();
  return new Promise((resolve, reject) => {
    const request = database.transaction(storeName).objectStore(storeName).get(recordKey);
    request.onsuccess = () => resolve(request.result as State | undefined);
    request.onerror = () => reject(request.error);
  });
}

/** Changes the state in one transaction, so that tabs and the worker never overwrite each other's changes. */
export async function change<Result>(work: (state: State) => Result): Promise<Result> {
  const database = await open();
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(storeName, 'readwrite');
    const store = transaction.objectStore(storeName);
    let result: Result;
    const request = store.get(recordKey);
    request.onsuccess = () => {
      const state = (request.result as State | undefined) ?? makeState();
      result = work(state);
      const over = state.queue.length - maxItems;
      let dropped = 0;
      if (over > 0) state.queue = state.queue.filter(({ kind }) => kind !== 'report' || (dropped += 1) > over);
      store.put(state, recordKey);
    };
    transaction.oncomplete = () => resolve(result);
    transaction.onabort = () => reject(transaction.error);
  });
}

function makeState(): State {
  return {
    ...{ appKey: '', host: '', ...makeIdentity(), isRegistered: false, isOptedIn: true, subscription: null },
    ...{ isHushed: false, failures: 0, waitUntil: 0, queue: [] },
  };
}

/** Makes the id of an installation and its secret of 256 random bits. */
export function makeIdentity(): Pick<State, 'id' | 'secret'> {
  const text = String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32)));
  return {
    id: crypto.randomUUID(),
    secret: btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
  };
}
