/** What the debugger's protocol says of a running process, without a change of what runs in it. */
export type Inspector = {
  /** A full collection of garbage in every thread, then the value of an expression in each, the main one first. */
  collectAndRead<T>(expression: string): Promise<T[]>;
  /** Applies a function to the list of all living objects of a prototype. */
  readObjects<T>(prototypeExpression: string, read: string): Promise<T>;
  close(): void;
};

type Reply = { id?: number; method?: string; params?: any; result?: any; error?: { message: string } };
type Send = (method: string, parameters?: object) => Promise<any>;

export async function openInspector(address: string): Promise<Inspector> {
  const socket = new WebSocket(address);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error(`the inspector at ${address} does not answer`)));
  });
  const waiting = new Map<number, { resolve: (result: any) => void; reject: (error: Error) => void }>();
  /** Sessions of the threads that work beside the main one. */
  const threads = new Set<string>();
  let lastId = 0;
  const take = (text: string): void => {
    const { id, method, params, result, error } = JSON.parse(text) as Reply;
    if (method === 'NodeWorker.attachedToWorker') threads.add(params.sessionId as string);
    if (method === 'NodeWorker.detachedFromWorker') threads.delete(params.sessionId as string);
    if (method === 'NodeWorker.receivedMessageFromWorker') return take(params.message as string);
    const asked = id === undefined ? undefined : waiting.get(id);
    if (!asked) return;
    waiting.delete(id!);
    if (error) asked.reject(new Error(error.message));
    else asked.resolve(result);
  };
  socket.addEventListener('message', ({ data }) => take(String(data)));
  socket.addEventListener('close', () => {
    for (const asked of waiting.values()) asked.reject(new Error('the process of the node ended'));
    waiting.clear();
  });

  const ask = (pass: (id: number) => void): Promise<any> =>
    new Promise((resolve, reject) => {
      const id = (lastId += 1);
      waiting.set(id, { resolve, reject });
      pass(id);
    });
  const send: Send = (method, params = {}) => ask((id) => socket.send(JSON.stringify({ id, method, params })));
  const sendTo =
    (sessionId: string): Send =>
    (method, params = {}) =>
      ask((id) => {
        const message = JSON.stringify({ id, method, params });
        send('NodeWorker.sendMessageToWorker', { sessionId, message }).catch(() => {});
      });
  await send('NodeWorker.enable', { waitForDebuggerOnStart: false });
  const valueOf = ({ result, exceptionDetails }: any): any => {
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };

  return {
    async collectAndRead<T>(expression: string) {
      const senders = [send, ...[...threads].map(sendTo)];
      for (const sender of senders) await sender('HeapProfiler.collectGarbage');
      const evaluation = { expression, returnByValue: true };
      return Promise.all(senders.map(async (sender) => valueOf(await sender('Runtime.evaluate', evaluation)) as T));
    },
    async readObjects<T>(prototypeExpression: string, read: string) {
      // What the debugger holds would never be collected.
      const objectGroup = 'soak';
      try {
        const { result: prototype } = await send('Runtime.evaluate', { expression: prototypeExpression, objectGroup });
        const { objects } = await send('Runtime.queryObjects', { prototypeObjectId: prototype.objectId, objectGroup });
        const call = { objectId: objects.objectId, functionDeclaration: read, returnByValue: true };
        return valueOf(await send('Runtime.callFunctionOn', call)) as T;
      } finally {
        await send('Runtime.releaseObjectGroup', { objectGroup });
      }
    },
    close: () => socket.close(),
  };
}
