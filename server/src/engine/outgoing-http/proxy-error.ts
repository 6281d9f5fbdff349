import type { ProxyState } from '../../domain/readiness/proxy-state.ts';

/** What is wrong with the proxy, or with what it answers. */
type ProxyFault = Exclude<ProxyState, 'UNUSED' | 'OK'>;

/** No tunnel was opened, so that nothing was sent to anybody. Neither message nor code names credentials. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code: ProxyFault;

  constructor(code: ProxyFault, detail: string) {
    super(`the outgoing proxy ${detail}`);
    this.code = code;
  }
}
