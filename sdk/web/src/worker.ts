import { change, read } from './store.ts';
import { answerChallenge, ensureRegistered, flush } from './sync.ts';

type Payload = { report_token?: string; challenge?: string; installation_id?: string };
type Report = { kind: 'impression' | 'click' | 'close'; action?: string };
type Renewal = { oldSubscription?: PushSubscription; newSubscription?: PushSubscription };

/** Carillon's plain worker, in front of this file: it shows pushes and leads to their addresses. */
declare const carillon: {
  show(payload: Payload): Promise<void>;
  report(payload: Payload, report: Report): Promise<void>;
  renew(renewal: Renewal): Promise<void>;
};
declare const registration: ServiceWorkerRegistration;

const types = { impression: 'shown', click: 'clicked', close: 'dismissed' } as const;
const { show, report, renew } = carillon;

/** While a logout waits, what arrives is for the user who left. The device is online, so the logout is sent at once. */
carillon.show = async (payload) => {
  const { challenge, installation_id: id } = payload;
  if (challenge !== undefined) {
    await change((state) => answerChallenge(state, { id, code: challenge }));
    await flush();
    return;
  }
  if (!(await read())?.isHushed) return show(payload);
  await change((state) => void (state.waitUntil = 0));
  await flush();
};

/** Reports wait in the queue while the service cannot be reached. */
carillon.report = async (payload, { kind, action }) => {
  const token = payload.report_token;
  if (!token) return;
  const state = await read();
  if (!state || state.appKey === '') return report(payload, { kind, ...(action === undefined ? {} : { action }) });
  const body = { id: crypto.randomUUID(), token, type: types[kind], ...(action ? { action } : {}) };
  await change((current) => {
    current.queue.push({ kind: 'receipt', body, at: Date.now() });
    ensureRegistered(current);
  });
  await flush();
};

/** A browser gave up its subscription or made another: the service learns the new one without a page. */
carillon.renew = async (renewal) => {
  const options = renewal.oldSubscription?.options;
  const renewed =
    renewal.newSubscription ?? (options && (await registration.pushManager.subscribe(options).catch(() => undefined)));
  await change((state) => {
    state.subscription = renewed ? (renewed.toJSON() as object) : null;
    [state.held, state.challenge] = [undefined, undefined];
    state.queue.push({ kind: 'register', at: Date.now() });
  });
  await flush();
  await renew({ ...renewal, ...(renewed ? { newSubscription: renewed } : {}) });
};
