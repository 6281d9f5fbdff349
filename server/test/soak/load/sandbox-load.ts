import type { LoadContext, SoakAction } from './soak-action.ts';

// Shares of the requests: no device is refused so often that its attempts are used up.
const faults: object[] = [
  {},
  { fcm: { status: 503, probability: 0.15 } },
  {},
  { apns: { status: 429, headers: { 'retry-after': '1' }, probability: 0.15 } },
  {},
  { webpush: { status: 500, probability: 0.1 }, fcm: { goawayEvery: 200 }, apns: { goawayEvery: 200 } },
  {},
  { fcm: { reset: true, probability: 0.02 }, apns: { delayMilliseconds: 50 } },
];

const advanceSeconds = 8 * 3600;

/** Providers that fail for a while, and the clock: a day of the installation takes about a minute. */
export function sandboxLoad({ bundle, time }: LoadContext): SoakAction[] {
  let next = 0;
  return [
    {
      name: 'faults',
      everySeconds: 10,
      async run() {
        const body = faults[(next += 1) % faults.length]!;
        const call = { kind: 'faults', method: 'POST', path: '/sandbox/faults', body };
        await bundle.callNode({ ...call, expected: [204] });
      },
    },
    { name: 'clock', everySeconds: 15, run: () => time.advance(advanceSeconds) },
  ];
}
