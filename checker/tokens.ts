import { showCall } from './history.ts';
import type { Anomaly, Call, History } from './history.ts';
import { changing, checkObject, reading } from './linearize.ts';
import type { Operation } from './linearize.ts';
import { get, groupBy, textAt } from './values.ts';

type Token = { expiresAt: number } | 'absent' | 'ended';
type TokenOperation = { token: string; operation: Operation<Token> };
/** Who got a token, and the refresh token from which an access token was issued. */
type Issued = { workspace: string; refresh: string };

const refreshMilliseconds = 30 * 86_400_000;

/**
 * A token works from its issue until it has expired, it or its refresh token was revoked, or the secret that signed it was retired;
 * and only for the workspace that got it.
 */
export function checkTokens({ calls }: History): Anomaly[] {
  const issued = findIssued(calls);
  const isForeign = (call: Call): boolean => {
    const owner = issued.get(presentedToken(call))?.workspace;
    return owner !== undefined && owner !== call.workspace;
  };
  const operations = calls.filter((call) => !isForeign(call)).flatMap((call) => operationsOf(call, issued));
  return [
    ...calls
      .filter((call) => isForeign(call) && !isRevocation(call) && !call.isUnsure && call.status < 400)
      .map((call) => ({ rule: 'token', what: `${showCall(call)} with a token of another workspace` })),
    ...[...groupBy(operations, ({ token }) => token)].flatMap(([token, own]) =>
      checkObject<Token>({
        ...{ rule: 'token', object: `token ${token.slice(0, 12)}…`, initial: 'absent' },
        operations: own.map(({ operation }) => operation),
      }),
    ),
  ];
}

const isIssue = ({ path }: Call): boolean => path === '/v1/oauth/token';
const isRefresh = ({ path }: Call): boolean => path === '/v1/oauth/refresh';
const isRevocation = ({ path }: Call): boolean => path === '/v1/oauth/revoke';
const isRetirement = ({ method, path }: Call): boolean => method === 'OPERATOR' && path === '/tokens/retire-secret';

/** The token that a call was made with, or is about. */
function presentedToken(call: Call): string {
  if (isRefresh(call)) return textAt(call.body, 'refresh_token');
  return isRevocation(call) ? textAt(call.body, 'token') : (call.token ?? '');
}

function findIssued(calls: readonly Call[]): Map<string, Issued> {
  const issued = new Map<string, Issued>();
  for (const call of calls) {
    const { workspace, reply } = call;
    const access = isIssue(call) || isRefresh(call) ? textAt(reply, 'access_token') : '';
    if (access === '') continue;
    const refresh = isRefresh(call) ? presentedToken(call) : textAt(reply, 'refresh_token');
    issued.set(access, { workspace, refresh });
    if (isIssue(call)) issued.set(refresh, { workspace, refresh });
  }
  return issued;
}

function operationsOf(call: Call, issued: ReadonlyMap<string, Issued>): TokenOperation[] {
  const access = isIssue(call) || isRefresh(call) ? textAt(call.reply, 'access_token') : '';
  const given = presentedToken(call);
  const issue = (token: string, lifeMilliseconds: number): TokenOperation => ({
    token,
    // It expires between these two: the issue is somewhere between call and answer.
    operation: changing<Token>(call, () => [{ expiresAt: call.at + lifeMilliseconds }]),
  });
  const end = (token: string): TokenOperation => ({
    token,
    operation: changing<Token>(call, (state) => [state === 'absent' ? state : 'ended']),
  });
  if ((isRetirement(call) || isRevocation(call)) && call.status !== 200 && !call.isUnsure) return [];
  if (isRetirement(call)) return [...issued.keys()].map(end);
  if (isRevocation(call)) {
    // A refresh token ends every access token that was issued from it.
    return [...issued]
      .filter(([token, { refresh }]) => token === given || refresh === given)
      .map(([token]) => end(token));
  }
  const uses = given === '' || call.isUnsure || call.status === 429 ? [] : [{ token: given, operation: useOf(call) }];
  if (access === '') return uses;
  const accessMilliseconds = Number(get(call.reply, 'expires_in')) * 1_000;
  const refresh = isIssue(call) ? textAt(call.reply, 'refresh_token') : '';
  const kept = refresh === '' ? [] : [issue(refresh, refreshMilliseconds)];
  return [...uses, ...kept, issue(access, accessMilliseconds)];
}

/** Tolerates a second around the expiry: it is the rig's clock that is compared. */
function useOf(call: Call): Operation<Token> {
  const isRefused = isRefresh(call) ? call.status >= 400 : call.status === 401;
  return reading<Token>(call, (state) => {
    if (state === 'absent' || state === 'ended') return isRefused;
    if (call.at > state.expiresAt + 1_000) return isRefused;
    return call.repliedAt < state.expiresAt - 1_000 ? !isRefused : true;
  });
}
