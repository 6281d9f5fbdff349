import type { Platform } from '../campaigns/content.ts';

export type WaitingCause = {
  /** Whether the provider, or the way to it, is why; otherwise the message waits as it was told to. */
  isOfProvider: boolean;
  /** "FCM answered 503". */
  words: string;
};

const providers: Record<Platform, string> = { ANDROID: 'FCM', IOS: 'APNs', WEB: 'the push service' };

/** Its codes are its own; of what has none the code says that it is a status of Huawei's. */
const isOfHuawei = /^(HMS_\d{3}|8\d{7})$/;

/** Why messages wait for another attempt, of the code that the ledger has of them. */
export function tellWaitingCause({ platform, code }: { platform: Platform; code: string }): WaitingCause {
  const provider = isOfHuawei.test(code) ? 'Huawei Push Kit' : providers[platform];
  const own = (words: string): WaitingCause => ({ isOfProvider: false, words });
  const theirs = (words: string): WaitingCause => ({ isOfProvider: true, words });
  switch (code) {
    case 'QUIET_HOURS':
      return own('it is night for these people');
    case 'USER_TIME_ZONE':
      return own('the local time of these people has not come');
    case 'PROVIDER_WAIT':
      return own(`${provider} is left alone for a while`);
    case 'CREDENTIALS_UNREAD':
      return own('the credential could not be read from the database');
    case 'NOT_CONNECTED':
      return theirs(`${provider} could not be reached`);
    case 'PROXY_UNREACHABLE':
      return theirs('the outgoing proxy could not be reached');
    case 'PROXY_REFUSED':
      return theirs(`the outgoing proxy does not let messages through to ${provider}`);
    case 'PROXY_AUTH':
      return theirs('the outgoing proxy does not take its credentials');
    case 'NOT_SENT':
      return theirs(`the connection to ${provider} broke before the message was out`);
    case 'TIMEOUT':
      return theirs(`${provider} did not answer`);
    case 'RESET':
      return theirs(`the connection to ${provider} broke before an answer came`);
    default:
      return theirs(`${provider} answered ${code.replace(/^HMS_/, '')}`);
  }
}
