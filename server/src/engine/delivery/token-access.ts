import type { AccessTokens } from './access-tokens.ts';
import type { Http2Target } from './http2/open-socket.ts';
import type { Access, Answer } from './provider.ts';

/** A service whose messages are let in by a token that another address of it gives. */
export type TokenEndpoints = { messagesOrigin: string; tokenOrigin: string };

export type TokenAccessOptions<Credential> = {
  name: 'fcm' | 'hms';
  /** Who has connections of its own. */
  accountOf(credential: Credential): string;
  endpoints: TokenEndpoints;
  /** Where simulated credentials lead: the same origins, connected to loopback. */
  simulator: TokenEndpoints | undefined;
  tokens: AccessTokens<Credential>;
  /** Whether it is the token that the provider does not take, and not the message. */
  isRefused(answer: Answer): boolean;
  /** The body of a refused message, in the provider's form, that says what the token service said. */
  tellRefusal(said: string): object;
};

/** Access by an OAuth token as bearer: fetched when there is none, and once more when a message was refused for it. */
export function makeTokenAccess<Credential extends { simulated: boolean }>({
  name,
  accountOf,
  endpoints,
  simulator,
  tokens,
  isRefused,
  tellRefusal,
}: TokenAccessOptions<Credential>): Access<Credential> {
  function targetOf(service: keyof TokenEndpoints, credential: Credential): Http2Target {
    const key = `${name}:${service}:${credential.simulated}:${accountOf(credential)}`;
    const target = { key, origin: endpoints[service], isGuarded: false };
    if (!credential.simulated) return target;
    if (!simulator) throw new Error('a simulated credential without simulators');
    return { ...target, connectTo: simulator[service] };
  }

  /** The token service refused the account: the same as a refused message, in the service's own words. */
  function refusedToken(refusal: Answer): Answer {
    if (refusal.kind === 'failure' || refusal.status >= 500 || refusal.status === 429) return refusal;
    return { kind: 'answer', status: 403, headers: {}, body: JSON.stringify(tellRefusal(refusal.body.slice(0, 300))) };
  }

  const access: Access<Credential> = {
    async find(credential) {
      const found = await tokens.get(credential, targetOf('tokenOrigin', credential));
      if ('refusal' in found) return { refusal: refusedToken(found.refusal) };
      return { target: targetOf('messagesOrigin', credential), authorization: `${scheme}${found.token}` };
    },
    isRefused,
    renew(credential, { authorization }) {
      tokens.forget(credential, authorization.slice(scheme.length));
      return access.find(credential);
    },
  };
  return access;
}

const scheme = 'Bearer ';

/** A token of a device that JSON writes as it is; undefined for another, whose request is planned by itself. */
export function plainAddress(pushId: string): string | undefined {
  return isPlain.test(pushId) ? pushId : undefined;
}

const isPlain = /^[ !#-[\]-~]*$/;
