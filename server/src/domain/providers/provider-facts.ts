import type { App } from '../apps.ts';
import type { Platform } from '../content/content.ts';
import { suspicionHours, suspicionSends } from '../users/devices.ts';
import type { KeyFields, KeyOf } from './key-fields.ts';

/** Members of every stored credential. `simulated` ones use the simulators of the sandbox. */
export type BaseCredential = { provider: string; simulated: boolean };

/** The public properties of a credential by name: never a private key. */
export type Summary = Readonly<Record<string, string>>;

/**
 * What the service knows about a provider apart from sending: its platforms, addresses, credential, form, accounts, advice
 * and sandbox. One file of this folder describes one provider, and `registry.ts` lists it. The descriptors of `providers/`
 * add how messages are sent.
 */
export type ProviderFacts<Credential extends BaseCredential = BaseCredential, Fields extends KeyFields = KeyFields> = {
  /** The platforms that it can reach, its usual one first. */
  platforms: readonly [usual: Platform, ...others: Platform[]];
  /** The platforms whose devices it reaches if they name no provider. */
  usualOn: readonly Platform[];
  names: {
    /** "Huawei Push Kit (Android)", in lists of providers. */
    inLists: string;
    /** "Huawei Push Kit", where the platform is known. */
    short: string;
    /** "the push service", within a sentence. */
    inSentences: string;
    /** "Huawei token", what it knows a device by. */
    ofAddress: string;
  };
  /** What the counters of the sandbox call it. */
  counter: string;
  /** The form of device addresses: a browser's subscription, or a token of printable ASCII. */
  address: 'subscription' | TokenForm;
  /** True if a device can also be named by the id of its installation (FID). */
  hasInstallationIds?: true;
  key: ProviderKey<Credential, Fields>;
  /** Returns the credential's public properties. */
  summarise(credential: Credential): Summary;
  /** The labels of the public properties. */
  summaryNames: Summary;
  /** Returns the account as its owner knows it. */
  accountName(summary: Summary): string | undefined;
  /**
   * Returns the name of the account that the provider counts and limits, without the provider. For subscriptions, each push
   * service counts alone, and this is what the names of all its accounts begin with.
   */
  accountId(summary: Summary): string;
  /** What the provider accepts per minute from one account; absent if it names no limit. */
  limits?: {
    messagesPerMinute?: number;
    /** The limit while the provider considers this sender noisy. */
    noisyMessagesPerMinute?: number;
  };
  /** Returns the credential with the app's values, which override those in the credential. */
  forApp?(credential: Credential, app: App): Credential;
  evidence: {
    /** Returns what distinguishes devices that one response can concern together (decision 0064). */
    scope(reached: { credential: Credential; platform: Platform; origin: string | undefined }): string[];
    /** True if even a refusal of the credential itself never concerns more than the scope. */
    refusesByScope?: true;
    /** Codes by which the provider refuses the credential for one platform only. */
    codesOfPlatform?: readonly string[];
  };
  advice: {
    /** What to do about a refused credential, by the provider's words. The first pattern that matches applies. */
    onRefusedKey: readonly (readonly [words: RegExp, todo: string])[];
    /** What to do about an accepted credential. */
    onAcceptedKey?: string;
    /** What to do about failed deliveries, by code. */
    onFailure: Readonly<Record<string, string>>;
    /** Codes of a dead address that take effect only if other devices were accepted; otherwise the message is rejected. */
    undecided?: readonly string[];
  };
  /** Recognizes the provider's codes. Needed if it is not the usual provider of one of its platforms. */
  codes?: {
    pattern: RegExp;
    /** What its classification writes before a bare HTTP status. */
    prefix: string;
  };
  sandbox: {
    /** Makes the credential of a workspace with simulated devices. `name`: lower-case letters and digits. */
    makeCredential(made: { name: string; keys: SandboxKeys }): Credential;
    /** Beginnings of device addresses that make the simulator respond in a chosen way, by outcome. */
    magic: Readonly<Record<string, { start: string; answer?: string }>>;
    /**
     * Responses of the real provider in operation that its documentation does not lead one to expect. `scope` is known to
     * the simulator only: the real provider gives the same response without stating it. Sources: public reports of
     * operators of senders.
     */
    fieldAnswers: Readonly<Record<string, { scope: FieldScope; answer: string }>>;
  };
};

export type FieldScope = 'device' | 'account';

export type TokenForm = {
  /** Tokens have this form. */
  pattern?: RegExp;
  /** What is wrong with a token of another form. */
  fault?: string;
  /** True if upper and lower case are the same token. */
  isCaseless?: true;
};

/** How the owner of an account gives its key. */
export type ProviderKey<Credential, Fields extends KeyFields> = {
  /** What the command line calls it. */
  description: string;
  /** Options of `carillon credentials set <provider>`, as its help shows them. */
  examples: readonly string[];
  fields: Fields;
  /** Parses the key. @throws ProviderKeyError */
  parse(given: KeyFields extends Fields ? object : KeyOf<Fields>): Credential;
  /** Returns what is wrong with a key for an app that is not the default one, as a sentence. */
  findAppFault?(credential: Credential, app: App): string | undefined;
  /** Returns what is certainly wrong with a stored credential, without asking the provider. */
  findStoredFault?(summary: Summary): string | undefined;
  /** Checks a credential without the provider, which has no accounts. @throws ProviderKeyError */
  checkAlone?(credential: Credential): string;
  /** Devices are registered with the public property of this name: another value loses them. */
  subscribedWith?: Subscribed;
  /** Returns what the command line prints after it was stored. */
  afterwards?(summary: Summary): string;
};

export type Subscribed = {
  name: string;
  /** `{name}` in a hint is a public property of the credential in use. */
  label: string;
  hint: string;
  /** Said before the credential is replaced. */
  warning: string;
  option: { flags: string; description: string };
};

/** Fresh keys for the credentials of a sandbox: PKCS#8 PEM. */
export type SandboxKeys = { rsa: string; p256: string };

/** Advice that several providers give. */
export const sharedAdvice = {
  gone: 'Nothing to do: the device is taken out of the audience and comes back when the app registers again.',
  suspected: `A device that goes on failing so while others are accepted is suspected: it leaves the audience after ${suspicionSends} such sends over ${suspicionHours} hours, and is listed under Users, Suspected devices, where it can be kept.`,
  tooLarge: 'Shorten title and message, or send fewer custom members: a message has 4 KB at most.',
  wrongCredential: 'Compare the credential with the app: carillon credentials check asks the provider about it.',
} as const;
