import type { Platform } from '../content/content.ts';
import { sharedAdvice } from '../providers/provider-facts.ts';
import { providerNames, providers, providersOf, providerOfCode } from './providers.ts';

/** The common reason of failed deliveries: the provider's code, or ours. */
export type FailureReason = { platform: Platform; outcome: string; code: string };

/** Returns what to do about deliveries that failed for a reason. */
export function adviseOnFailure({ platform, outcome, code }: FailureReason): string {
  if (code.startsWith('TEMPLATE_'))
    return 'The text could not be rendered with these people’s attributes. Give the payload a fallback, or the template a default.';
  return (
    ours[code] ??
    (outcome === 'REJECTED' &&
    providersOf[platform].some((provider) => providers[provider].advice.undecided?.includes(code))
      ? undecided
      : undefined) ??
    providersOf[platform]
      .map((provider) => providers[provider].advice.onFailure[code])
      .find((words) => words !== undefined) ??
    byOutcome[outcome] ??
    'Look up the code in the provider’s documentation; the delivery log has its complete response.'
  );
}

const { gone, suspected, wrongCredential } = sharedAdvice;
const undecided =
  'The provider says that the address is dead, but too few other devices were accepted to be sure, so the devices stay in the audience. If every device gets this response, check the credential and the proxy.';
const controlGroup =
  'Nothing to do: these people are left out on purpose, so that the others can be compared with them.';

/** The providers with a fixed host, which does not depend on the device. */
const fixedHosts = providerNames
  .filter((name) => providers[name].address !== 'subscription')
  .map((name) => providers[name].names.short)
  .join(', ');

const ours: Record<string, string> = {
  NOT_CONNECTED: 'Check that this machine reaches the provider (firewall, proxy, DNS).',
  NOT_SENT: 'Check that this machine reaches the provider reliably; connections broke before the message was sent.',
  PROXY_UNREACHABLE: 'The outgoing proxy did not respond. Check that it runs, and check CARILLON_OUTGOING_PROXY.',
  PROXY_REFUSED:
    'Let the outgoing proxy open tunnels (CONNECT) to this provider; the log of the proxy and the log of the node contain the status.',
  PROXY_AUTH: 'The outgoing proxy rejected the credentials in CARILLON_OUTGOING_PROXY.',
  HOST_NOT_FOUND: `DNS reports that the host name does not exist. If it is ${fixedHosts} or a host of your own, check the DNS of this machine. ${suspected}`,
  HOST_NOT_ALLOWED:
    'The browser named a host that is not a known push service. If it is one, add it to CARILLON_PROXY_HOSTS.',
  HOST_INVALID: gone,
  ADDRESS_BLOCKED: 'The browser named a push service at an address that is not public. The device leaves the audience.',
  STOPPED: 'The campaign was stopped before another attempt was due. Duplicate it to send the rest.',
  DEVICE_LEFT: gone,
  SET_ASIDE:
    'Sending to these devices crashed the process each time, so they were quarantined. All others were sent to. Please report it, with the last lines of the log.',
  RECIPIENT_FAULT:
    'The service failed on these recipients only. All others were sent to. The log has each as "recipient failed". Please report it.',
  NO_CREDENTIAL: 'Give the workspace a credential of this provider: carillon credentials set.',
  NO_CREDENTIAL_FOR_APP:
    'Neither their app nor the default app has a credential. Check with carillon apps list; add one with carillon credentials set --app.',
  OVERRIDE_INVALID:
    'payload.providerOverrides turns the message into one that cannot be sent; the delivery log has the reason. Correct the override.',
  CREDENTIAL_UNUSABLE: wrongCredential,
  TOPIC_OPTED_OUT: 'Nothing to do: these people left the topic of the campaign (advanced.topic).',
  TOPIC_NOT_OPTED_IN:
    'Nothing to do: these people have not joined the topic of the campaign (advanced.topic). Offer it to them in your app, or with a link to the preference page.',
  GLOBAL_CONTROL_GROUP: controlGroup,
  CAMPAIGN_CONTROL_GROUP: controlGroup,
  CAMPAIGN_AUDIENCE_LIMIT:
    'Nothing to do: the campaign was sent to as many people as its limit allows (campaign_audience_limit).',
  CAMPAIGN_SEND_LIMIT:
    'Nothing to do: these people had already got as many messages of the campaign as its limit allows (limit_send_config).',
  BEST_TIME:
    'The best time of these people is unknown, or outside the hours of the campaign. bts_details can send to them at the start or end of these hours.',
  FREQUENCY_CAP:
    'These people had already got as many messages as the workspace’s cap allows. Let the campaign ignore caps if it must reach them.',
  MINIMUM_DELAY: 'These people had a message shortly before. Send later, or change the workspace’s minimum delay.',
  TIME_ZONE_UNKNOWN:
    'The stored time zone of these people is not a time zone. Send it again as an IANA name such as Asia/Kolkata.',
  QUIET_HOURS: 'These people were in quiet hours. Let quiet hours hold messages instead of dropping them.',
};

const byOutcome: Record<string, string> = {
  GONE: gone,
  EXPIRED: 'The time to live ended before the provider accepted the message. Set a longer one.',
  FAILED: 'Eight attempts failed. Duplicate the campaign when the provider responds again.',
};

export type WaitingCause = {
  /** True if the provider, or the connection to it, is the cause; otherwise the message waits as configured. */
  isOfProvider: boolean;
  /** "FCM answered 503". */
  words: string;
};

/** Returns why messages wait for another attempt, from their code in the ledger. */
export function describeWaitingCause({ platform, code }: { platform: Platform; code: string }): WaitingCause {
  const { names, codes } = providers[providerOfCode({ platform, code })];
  const provider = names.inSentences;
  const own = (words: string): WaitingCause => ({ isOfProvider: false, words });
  const theirs = (words: string): WaitingCause => ({ isOfProvider: true, words });
  switch (code) {
    case 'QUIET_HOURS':
      return own('these people are in quiet hours');
    case 'USER_TIME_ZONE':
      return own('the send time has not arrived in the time zone of these people');
    case 'BEST_TIME':
      return own('the hour at which these people usually open messages has not arrived');
    case 'CAMPAIGN_AUDIENCE_LIMIT':
      return own('messages in transit may use up the limit of the campaign');
    case 'FREQUENCY_CAP':
      return own('these people have had as many messages as the frequency cap allows for now');
    case 'MINIMUM_DELAY':
      return own('these people had another message shortly before');
    case 'PROVIDER_WAIT':
      return own(`sending through ${provider} is paused for a while`);
    case 'CREDENTIALS_UNREAD':
      return own('the credential could not be read from the database');
    case 'NOT_CONNECTED':
      return theirs(`${provider} could not be reached`);
    case 'HOST_NOT_FOUND':
      return theirs(`the host name of ${provider} does not exist`);
    case 'PROXY_UNREACHABLE':
      return theirs('the outgoing proxy could not be reached');
    case 'PROXY_REFUSED':
      return theirs(`the outgoing proxy blocks connections to ${provider}`);
    case 'PROXY_AUTH':
      return theirs('the outgoing proxy rejects its credentials');
    case 'NOT_SENT':
      return theirs(`the connection to ${provider} broke before the message was sent`);
    case 'TIMEOUT':
      return theirs(`${provider} did not respond`);
    case 'RESET':
      return theirs(`the connection to ${provider} broke before it responded`);
    default:
      return theirs(
        `${provider} responded with ${codes && code.startsWith(codes.prefix) ? code.slice(codes.prefix.length) : code}`,
      );
  }
}
