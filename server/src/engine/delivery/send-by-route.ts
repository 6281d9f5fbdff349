import type { Http2Transport } from './http2/http2-transport.ts';
import type { Access, Answer, Plan, Route } from './provider.ts';

type Sending<C> = { transport: Http2Transport; access: Access<C>; credential: C };

/** Sends one request, and once more when its token was refused and there is another. Never rejects but for the credential. */
export async function sendByRoute<C>(sending: Sending<C>, plan: Plan): Promise<Answer> {
  const route = await sending.access.find(sending.credential);
  if ('refusal' in route) return route.refusal;
  const answer = await request(sending.transport, { route, plan });
  return sending.access.isRefused(answer) ? sendWithNextToken(sending, { plan, route, answer }) : answer;
}

/** A token may end before its time; one fresh one decides whether it is the credential. */
export async function sendWithNextToken<C>(
  { transport, access, credential }: Sending<C>,
  { plan, route, answer }: { plan: Plan; route: Route; answer: Answer },
): Promise<Answer> {
  const next = await access.renew(credential, route);
  if (next === undefined) return answer;
  return 'refusal' in next ? next.refusal : request(transport, { route: next, plan });
}

function request(
  transport: Http2Transport,
  { route: { target, authorization }, plan }: { route: Route; plan: Plan },
): Promise<Answer> {
  return transport.request(target, {
    path: plan.path,
    headers: { ...plan.headers, authorization },
    body: plan.body,
  });
}
