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

/** The plugin, as Capacitor passes calls to it: with one object each. */
export type NativeCarillon = {
  start(options: { appKey: string; host: string }): Promise<void>;
  askPermission(): Promise<void>;
  login(options: { userId: string; identityToken?: string }): Promise<void>;
  logout(): Promise<void>;
  track(options: { name: string; attributes: Values }): Promise<void>;
  setAttributes(options: { attributes: Values }): Promise<void>;
  optIn(): Promise<void>;
  optOut(): Promise<void>;
  addListener(name: 'message', listener: (message: Message) => void): Promise<Subscription>;
  addListener(name: 'notice', listener: (event: { notice: Notice }) => void): Promise<Subscription>;
};

type Subscription = { remove(): Promise<void> };

/**
 * Makes the calls of an app from the plugin. Every call resolves once the change is stored on the phone. On a platform without
 * the plugin Capacitor rejects each with the code `UNIMPLEMENTED`.
 */
export function makeCarillon(native: NativeCarillon) {
  return {
    /**
     * Registers the installation, with its push token. Call it when the app starts.
     *
     * @param appKey a key of kind app; it is public
     * @param host the address of the service, such as `https://push.example.com`
     */
    start: (appKey: string, host: string) => native.start({ appKey, host }),
    /** Asks for the permission that iOS, and Android 13 and newer, need. Call it when the reason is clear to the user. */
    askPermission: () => native.askPermission(),
    /** Signs a user in. The token comes from your server; only a sandbox accepts a user without one. */
    login: (userId: string, identityToken?: string) =>
      native.login({ userId, ...(identityToken === undefined ? {} : { identityToken }) }),
    /** Signs the user out, offline too: from now on no message for the user is shown. */
    logout: () => native.logout(),
    /** Reports an event of the current user. It is kept for seven days while the service cannot be reached. */
    track: (name: string, attributes: Values = {}) => native.track({ name, attributes }),
    /** Sets attributes of the current user; null removes one. The workspace lists the attributes that apps may set. */
    setAttributes: (attributes: Values) => native.setAttributes({ attributes }),
    optIn: () => native.optIn(),
    /** Stops messages to this phone, whoever is signed in, until optIn. */
    optOut: () => native.optOut(),
    /** Calls the listener for messages that arrive while the page runs. @returns a function that ends it */
    onMessage: (listener: (message: Message) => void) => endOf(native.addListener('message', listener)),
    /** @returns a function that ends it */
    onNotice: (listener: (notice: Notice) => void) =>
      endOf(native.addListener('notice', ({ notice }) => listener(notice))),
  };
}

function endOf(subscription: Promise<Subscription>): () => Promise<void> {
  return () => subscription.then((one) => one.remove());
}
