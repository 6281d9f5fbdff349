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
 * @template Simulated where credentials of the sandbox connect
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
  /** Returns where credentials of the sandbox connect. `origin`: the simulator's, on loopback. */
  simulatorEndpoints(origin: string): Simulated;
  make(context: ProviderContext<Endpoints, Simulated>): DeliveryProvider<Credential> | RoutedProvider<Credential>;
  /** True if the provider checks a message without delivering it when asked to `validate_only`. */
  canValidateOnly?: true;
  /** What its responses mean. The table in docs/provider-answers.md comes from it. */
  answers: AnswerRules;
  /** Returns how large a message is; only for the usual provider of a platform. Pure. */
  measure?(message: Message): ProviderMessageSize;
  /** Returns what the simulator knows of an account. */
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
