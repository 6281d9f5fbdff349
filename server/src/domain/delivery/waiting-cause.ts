import type { Platform } from '../campaigns/content.ts';
import type { ProviderName } from './provider-name.ts';
import { providerOfCode } from './provider-of-code.ts';

export type WaitingCause = {
  /** Whether the provider, or the way to it, is why; otherwise the message waits as it was told to. */
  isOfProvider: boolean;
  /** "FCM answered 503". */
  words: string;
};

const names: Record<ProviderName, string> = {
  fcm: 'FCM',
  apns: 'APNs',
  webpush: 'the push service',
  hms: 'Huawei Push Kit',
};

/** Why messages wait for another attempt, of the code that the ledger has of them. */
export function tellWaitingCause({ platform, code }: { platform: Platform; code: string }): WaitingCause {
  const provider = names[providerOfCode({ platform, code })];
  const own = (words: string): WaitingCause => ({ isOfProvider: false, words });
  const theirs = (words: string): WaitingCause => ({ isOfProvider: true, words });
  switch (code) {
    case 'QUIET_HOURS':
      return own('it is night for these people');
    case 'USER_TIME_ZONE':
      return own('the local time of these people has not come');
    case 'BEST_TIME':
      return own('the hour at which these people open messages has not come');
    case 'CAMPAIGN_AUDIENCE_LIMIT':
      return own('the campaign’s limit may be used up by messages that are on their way');
    case 'FREQUENCY_CAP':
      return own('these people have had as many messages as the frequency cap allows for now');
    case 'MINIMUM_DELAY':
      return own('these people had another message shortly before');
    case 'PROVIDER_WAIT':
      return own(`${provider} is left alone for a while`);
    case 'CREDENTIALS_UNREAD':
      return own('the credential could not be read from the database');
    case 'NOT_CONNECTED':
      return theirs(`${provider} could not be reached`);
    case 'HOST_NOT_FOUND':
      return theirs(`the host name of ${provider} does not exist`);
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
      return theirs(`${provider} answered ${code.replace(/^(HMS|FCM)_/, '')}`);
  }
}
