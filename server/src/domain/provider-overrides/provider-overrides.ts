export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [name: string]: JsonValue };

/** Names of headers in lower case; null takes one away. */
export type RequestPatch = { headers?: Record<string, string | null>; payload?: JsonObject };

/** Changes to finished requests, as merge patches (RFC 7386), by the provider that carries them. */
export type ProviderOverrides = { fcm?: JsonObject; hms?: JsonObject; apns?: RequestPatch; webpush?: RequestPatch };

export type OverriddenProvider = keyof ProviderOverrides;
