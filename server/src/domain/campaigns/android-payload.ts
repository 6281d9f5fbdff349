/**
 * What a message to an Android phone is made of. `data`: the app's own code is run and shows it. `notification`: the
 * system shows it, and the app learns nothing before a tap. `both`: shown by the system while the app is in the
 * background, by the app while it is in the foreground.
 */
export const payloadModes = ['data', 'notification', 'both'] as const;
export type PayloadMode = (typeof payloadModes)[number];

/** How a workspace writes its Android messages: its app decides what it can read. */
export type AndroidPayload = {
  mode: PayloadMode;
  /** Value of `push_from`, by which an app knows its sender. */
  pushFrom: string;
  /** Stands before the names of our own keys, as in `svc_message_id`. Null: what the installation says. */
  dataPrefix: string | null;
};

/** What an installation tells phones, where a workspace does not say it itself. */
export type PhoneDefaults = {
  /** The header prefix, in lower case. */
  dataPrefix: string;
  /** The origin of this service; undefined if the installation does not know its own address. */
  publicUrl: string | undefined;
};

/** The same, with nothing left open. */
export type SettledPayload = {
  mode: PayloadMode;
  pushFrom: string;
  dataPrefix: string;
  reportUrl?: string;
  /** The mode of the app itself, which holds for messages by Huawei Push Kit too. */
  appMode?: PayloadMode;
};

export function settlePayload({ mode, pushFrom, dataPrefix }: AndroidPayload, defaults: PhoneDefaults): SettledPayload {
  return {
    mode,
    pushFrom,
    dataPrefix: dataPrefix ?? defaults.dataPrefix,
    ...(defaults.publicUrl === undefined ? {} : { reportUrl: `${defaults.publicUrl}/v1/interactions` }),
  };
}

export function isPushFrom(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(text);
}

/** `gcm_` and `kv_` begin other keys of a message, `google` is refused by FCM. */
export function isDataPrefix(text: string): boolean {
  return /^[a-z][a-z0-9]{0,15}$/.test(text) && !['gcm', 'google', 'kv'].includes(text);
}
