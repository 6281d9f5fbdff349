// The part of node-adm (which has no types) that the tests use.
declare module 'node-adm' {
  export type Message = { data: Record<string, string>; consolidationKey?: string; expiresAfter?: number };
  type Tell = (error: Error | null, result?: { registrationID?: string; error?: string }) => void;
  export class Sender {
    constructor(options: { client_id: string; client_secret: string });
    send(message: Message, registrationId: string, tell: Tell): void;
  }
}
