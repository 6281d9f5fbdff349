import type { Random } from '../../rig/random.ts';
import type { CallWith } from './draw-calls.ts';
import type { RecordedNode, RigAnswer, RigKey, RigWorkspace } from './recorded-node.ts';

export type TokenCaller = ReturnType<typeof makeTokenCaller>;
type Parts = { node: RecordedNode; random: Random; workspace: RigWorkspace; key: RigKey };
/** Texts of tokens. */
export type HeldTokens = { access: string[]; refresh: string[] };

/** More than the five that a key may have in a minute. */
const burst = 7;

/** A client of one workspace with a key of its own: it gets, uses, refreshes and revokes tokens, and tries those of another. */
export function makeTokenCaller({ node, random, workspace, key }: Parts) {
  const held: HeldTokens = { access: [], refresh: [] };
  /** The access token that was issued together with a refresh token. */
  const accessOf = new Map<string, string>();

  const pick = <Item>(items: readonly Item[]): Item => items[random.between(0, items.length - 1)]!;
  const call = (given: CallWith): Promise<RigAnswer> => node.call({ workspace, ...given });

  async function issue(): Promise<void> {
    const form = { grant_type: 'client_credentials' };
    const { status, body } = await call({ method: 'POST', path: '/v1/oauth/token', key, form });
    if (status !== 200) return;
    held.access.push(body.access_token);
    held.refresh.push(body.refresh_token);
    accessOf.set(body.refresh_token, body.access_token);
  }

  async function refresh(token: string): Promise<void> {
    const form = { grant_type: 'refresh_token', client_id: workspace.id, refresh_token: token };
    const { status, body } = await call({ method: 'POST', path: '/v1/oauth/refresh', form });
    if (status === 200) held.access.push(body.access_token);
  }

  const use = (token: string) => call({ method: 'GET', path: '/v3/custom-segments?name=none', token });
  const revoke = (token: string) => call({ method: 'POST', path: '/v1/oauth/revoke', key, form: { token } });

  async function revokeGrant(token: string): Promise<void> {
    await revoke(token);
    await use(accessOf.get(token)!);
  }

  const happenings: [weight: number, (strange: HeldTokens) => unknown][] = [
    [16, issue],
    [8, () => Promise.all(Array.from({ length: burst }, issue))],
    [30, () => held.access.length > 0 && use(pick(held.access))],
    [12, () => held.refresh.length > 0 && refresh(pick(held.refresh))],
    [8, () => held.access.length > 0 && revoke(pick(held.access))],
    [6, () => held.refresh.length > 0 && revokeGrant(pick(held.refresh))],
    [7, ({ access }) => access.length > 0 && use(pick(access))],
    [5, (strange) => strange.refresh.length > 0 && refresh(pick(strange.refresh))],
    [3, (strange) => strange.access.length > 0 && revoke(pick(strange.access))],
    [5, () => node.retireTokenSecret(workspace)],
  ];

  return {
    held,
    /** Makes one call, or a few at the same time. @param strange tokens of another workspace */
    act(strange: HeldTokens): unknown {
      let share = random.between(0, happenings.reduce((sum, [weight]) => sum + weight, 0) - 1);
      return happenings.find(([weight]) => (share -= weight) < 0)![1](strange);
    },
  };
}
