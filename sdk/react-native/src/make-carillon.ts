/** A value of an attribute: text, number, flag, null, or a list of them. */
export type Value = string | number | boolean | null | (string | number | boolean | null)[];
export type Values = Record<string, Value>;

/** A message that reached the running app. `pairs` are the sender's own. */
export type Message = {
  id: string;
  title: string;
  message: string;
  isSilent: boolean;
  pairs: Record<string, string>;
};

/** `identity-needed`: call login again, with a new token. `token-lost`: another device holds the push token; a new one is on its way. */
export type Notice = 'identity-needed' | 'token-lost';

/** The native module. Absent on platforms that have none. */
export type NativeCarillon = {
  start(appKey: string, host: string): Promise<void>;
  askPermission(): Promise<void>;
  login(userId: string, identityToken: string | null): Promise<void>;
  logout(): Promise<void>;
  track(name: string, attributes: Values): Promise<void>;
  setAttributes(attributes: Values): Promise<void>;
  optIn(): Promise<void>;
  optOut(): Promise<void>;
};

/** Events of the native module. */
export type NativeEvents = {
  addListener(name: string, listener: (value: never) => void): { remove(): void };
};

/** Thrown on a platform that has no native module, and in an app that was built without it, such as Expo Go. */
export class CarillonUnavailableError extends Error {
  override readonly name = 'CarillonUnavailableError';

  constructor() {
    super('The app contains no native module of Carillon. Expo Go does not contain it; make a development build.');
  }
}

/** Makes the calls of an app from its native module. Every call resolves once the change is stored on the phone. */
export function makeCarillon(native: NativeCarillon | undefined, events: NativeEvents | undefined) {
  const call = async (work: (module: NativeCarillon) => Promise<void>): Promise<void> => {
    if (!native) throw new CarillonUnavailableError();
    await work(native);
  };
  const listen = <Value>(name: string, listener: (value: Value) => void): (() => void) => {
    const subscription = events?.addListener(name, listener as (value: never) => void);
    return () => subscription?.remove();
  };
  return {
    /**
     * Registers the installation, with its push token. Call it when the app starts.
     *
     * @param appKey a key of kind app; it is public
     * @param host the address of the service, such as `https://push.example.com`
     */
    start: (appKey: string, host: string) => call((module) => module.start(appKey, host)),
    /** Asks for the permission that iOS, and Android 13 and newer, need. Call it when the reason is clear to the user. */
    askPermission: () => call((module) => module.askPermission()),
    /** Signs a user in. The token comes from your server; only a sandbox accepts a user without one. */
    login: (userId: string, identityToken?: string) => call((module) => module.login(userId, identityToken ?? null)),
    /** Signs the user out, offline too: from now on no message for the user is shown. */
    logout: () => call((module) => module.logout()),
    /** Reports an event of the current user. It is kept for seven days while the service cannot be reached. */
    track: (name: string, attributes: Values = {}) => call((module) => module.track(name, attributes)),
    /** Sets attributes of the current user; null removes one. The workspace lists the attributes that apps may set. */
    setAttributes: (attributes: Values) => call((module) => module.setAttributes(attributes)),
    optIn: () => call((module) => module.optIn()),
    /** Stops messages to this phone, whoever is signed in, until optIn. */
    optOut: () => call((module) => module.optOut()),
    /** Calls the listener for messages that arrive while JavaScript runs. @returns a function that ends it */
    onMessage: (listener: (message: Message) => void) => listen('carillonMessage', listener),
    /** @returns a function that ends it */
    onNotice: (listener: (notice: Notice) => void) => listen('carillonNotice', listener),
  };
}
