import type { Clock } from '../clock.ts';
import type { App } from '../domain/apps.ts';
import type { Message } from '../domain/content/message.ts';
import type { BaseCredential } from '../domain/providers/provider-facts.ts';
import type { Logger } from '../log.ts';
import type { AnswerRules } from './answer-rules.ts';
import type { ShareProviderToken } from './apns/provider-token.ts';
import type { Http2Transport } from './http2/transport.ts';
import type { DeliveryProvider, RoutedProvider } from './provider.ts';
import type { ProviderSimulator } from './simulator/simulator.ts';

/**
 * How messages are sent through a provider, in addition to its facts (`domain/providers`). One folder of `providers/` describes
 * one provider, and `registry.ts` lists it.
 *
 * @template Endpoints addresses of the provider
 * @template Simulated the address that credentials of the sandbox connect to
 * @template Account the provider's data about one account, without secrets
 */
export type ProviderDescriptor<
  Credential extends BaseCredential = BaseCredential,
  Endpoints = unknown,
  Simulated = unknown,
  Account = unknown,
> = {
  /** Addresses of the real provider; undefined if devices name them. */
  endpoints: Endpoints;
  /** Returns the address that credentials of the sandbox connect to. `origin`: the loopback origin of the simulator. */
  simulatorEndpoints(origin: string): Simulated;
  make(context: ProviderContext<Endpoints, Simulated>): DeliveryProvider<Credential> | RoutedProvider<Credential>;
  /** True if the provider checks a message without delivering it when asked to `validate_only`. */
  canValidateOnly?: true;
  /** The meaning of its responses. The table in docs/provider-answers.md comes from it. */
  answers: AnswerRules;
  /** Returns the size of a message. Only the default provider of a platform has it. Pure. */
  measure?(message: Message): ProviderMessageSize;
  /** Returns the data that the simulator has about an account. */
  simulatedAccount(credential: Credential, apps: readonly App[]): Account;
  /** Loads the simulator, which only a sandbox needs. */
  loadSimulator(): Promise<ProviderSimulator>;
};

export type ProviderContext<Endpoints, Simulated> = {
  clock: Clock;
  log: Logger;
  transport: Http2Transport;
  endpoints: Endpoints;
  /** Undefined without a sandbox. */
  simulator: Simulated | undefined;
  shareToken: ShareProviderToken;
};

export type ProviderMessageSize = {
  bytes: number;
  /** The maximum that the provider accepts. */
  most: number;
  /** The maximum that every service of the platform accepts, if push services differ. */
  maxEverywhere?: number;
};
