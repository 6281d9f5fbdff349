/** The part of simple-oauth2 that the test calls; the package ships no types. */
declare module 'simple-oauth2' {
  export class AccessToken {
    readonly token: Record<string, unknown>;
    expired(): boolean;
    refresh(): Promise<AccessToken>;
  }
  export class ClientCredentials {
    constructor(options: {
      client: { id: string; secret: string };
      auth: { tokenHost: string; tokenPath: string; refreshPath: string };
      options: { authorizationMethod: 'body' | 'header' };
    });
    getToken(parameters: object): Promise<AccessToken>;
  }
}
