import { providersOf } from '../delivery/provider-name.ts';
import type { ProviderName } from '../delivery/provider-name.ts';
import type { Platform } from './content.ts';

/** What failed deliveries have in common: the provider's word, or ours. */
export type FailureReason = { platform: Platform; outcome: string; code: string };

/** What to do about deliveries that failed for a reason. */
export function adviseOnFailure({ platform, outcome, code }: FailureReason): string {
  if (code.startsWith('TEMPLATE_'))
    return 'The text could not be rendered with these people’s attributes. Give the payload a fallback, or the template a default.';
  return (
    ours[code] ??
    providersOf[platform].map((provider) => advice[provider][code]).find((words) => words !== undefined) ??
    byOutcome[outcome] ??
    'Look up the code with the provider; the delivery log has its whole answer.'
  );
}

const gone = 'Nothing to do: the device is taken out of the audience and comes back when the app registers again.';
const tooLarge = 'Shorten title and message, or send fewer custom members: a message has 4 KB at most.';
const wrongCredential = 'Compare the credential with the app: carillon credentials check asks the provider about it.';

const controlGroup =
  'Nothing to do: these people are left out on purpose, so that the others can be compared with them.';

const ours: Record<string, string> = {
  NOT_CONNECTED: 'Check that this machine reaches the provider (firewall, proxy, DNS).',
  HOST_NOT_FOUND:
    'The host name does not exist, as DNS answers. Nothing to do for browsers of a push service that was shut down; if it is FCM, APNs or Huawei, check the DNS of this machine.',
  NOT_SENT: 'Check that this machine reaches the provider reliably; connections broke before the message was out.',
  PROXY_UNREACHABLE: 'The outgoing proxy did not answer: check that it runs, and CARILLON_OUTGOING_PROXY.',
  PROXY_REFUSED:
    'Let the outgoing proxy open tunnels (CONNECT) to this provider; its own log and the node’s have the status.',
  PROXY_AUTH: 'The outgoing proxy wants other credentials than those in CARILLON_OUTGOING_PROXY.',
  HOST_NOT_ALLOWED:
    'The browser named a push service that is not known here: list its host in CARILLON_PROXY_HOSTS if it is one.',
  HOST_INVALID: gone,
  ADDRESS_BLOCKED:
    'The browser named a push service at an address that is not public; it is taken out of the audience.',
  STOPPED: 'The campaign was stopped before another attempt was due. Duplicate it to send the rest.',
  DEVICE_LEFT: gone,
  SET_ASIDE:
    'Sending to these devices ended the process each time, so they were set aside and everybody else was sent to. Please report it, with the last lines of the log.',
  RECIPIENT_FAULT:
    'The service failed on these recipients alone; everybody else was sent to. The log has each as "recipient failed". Please report it.',
  NO_CREDENTIAL: 'Give the workspace a credential of this provider: carillon credentials set.',
  NO_CREDENTIAL_FOR_APP:
    'Their app has no credential, nor has the default app: carillon apps list says it, carillon credentials set --app gives it one.',
  OVERRIDE_INVALID:
    'What payload.providerOverrides made of the message cannot be sent; the delivery log says what. Correct the override.',
  CREDENTIAL_UNUSABLE: wrongCredential,
  GLOBAL_CONTROL_GROUP: controlGroup,
  CAMPAIGN_CONTROL_GROUP: controlGroup,
  CAMPAIGN_AUDIENCE_LIMIT:
    'Nothing to do: the campaign was sent to as many people as its limit allows (campaign_audience_limit).',
  CAMPAIGN_SEND_LIMIT:
    'Nothing to do: these people had as many messages of the campaign as its own limit allows (limit_send_config).',
  BEST_TIME:
    'The best time of these people is not known, or not within the hours of the campaign; bts_details can send to them at its start or end.',
  FREQUENCY_CAP:
    'These people had as many messages as the workspace’s cap allows. Let the campaign ignore caps if it must reach them.',
  MINIMUM_DELAY: 'These people had a message shortly before. Send later, or change the workspace’s minimum delay.',
  TIME_ZONE_UNKNOWN:
    'What is stored as these people’s time zone names none. Send it again as an IANA name such as Asia/Kolkata.',
  QUIET_HOURS: 'It was night for these people. Let quiet hours hold messages instead of dropping them.',
};

const fcm: Record<string, string> = {
  UNREGISTERED: gone,
  INVALID_ARGUMENT:
    'FCM refused a field of the message, or the token is not one of FCM’s; the delivery log has its answer.',
  SENDER_ID_MISMATCH:
    'These tokens belong to another Firebase project. Give the workspace that project’s service account.',
  QUOTA_EXCEEDED: 'Give the campaign a throttle, or ask Google for more than 600,000 messages a minute.',
  UNAVAILABLE: 'FCM was not available until the message’s time was over. Give it a longer time to live.',
  INTERNAL: 'FCM had a fault until the message’s time was over. Give it a longer time to live.',
  FCM_503: 'FCM was not available until the message’s time was over. Give it a longer time to live.',
  FCM_500: 'FCM had a fault until the message’s time was over. Give it a longer time to live.',
  THIRD_PARTY_AUTH_ERROR: wrongCredential,
};

const apns: Record<string, string> = {
  BadDeviceToken:
    'Development builds have tokens of Apple’s sandbox: check the environment of the credential. The devices are out.',
  DeviceTokenNotForTopic:
    'The tokens belong to another app: compare the bundle id of the credential. The devices are out.',
  Unregistered: gone,
  ExpiredToken: gone,
  PayloadTooLarge: tooLarge,
  TooManyRequests: 'These devices got too many messages in a short time; send less often to the same people.',
  TopicDisallowed: wrongCredential,
  BadTopic: wrongCredential,
  MissingTopic: wrongCredential,
};

const webPush: Record<string, string> = {
  '400': 'The push service refuses the request; the delivery log has its words.',
  '401': 'These browsers subscribed with another VAPID key. They come back when the site subscribes them anew.',
  '403':
    'Where the delivery log says BadJwtToken (Safari), connect Web Push with a contact (subject) on the internet and no keys, which keeps the keys; if the contact is right, set the clock of this machine. Otherwise these browsers subscribed with another VAPID key, and come back when the site subscribes them again.',
  '404': gone,
  '410': gone,
  '413': tooLarge,
  '429': 'The push service limits noisy sites; send less often. It recovers after days.',
};

const hms: Record<string, string> = {
  '80100000': gone,
  '80300007':
    'Nothing to do if they were uninstalled: they are out. Tokens of another app, or of HarmonyOS NEXT, are refused in the same way.',
  '80300008': tooLarge,
  '80300002': wrongCredential,
  '80200001': wrongCredential,
  HMS_TOKEN_REFUSED: wrongCredential,
  '81000001': 'Huawei Push Kit had a fault until the message’s time was over. Give it a longer time to live.',
  HMS_503: 'Huawei limited this account until the message’s time was over. Give the campaign a throttle.',
};

const advice: Record<ProviderName, Record<string, string>> = { fcm, apns, webpush: webPush, hms };

const byOutcome: Record<string, string> = {
  GONE: gone,
  EXPIRED: 'The time to live was over before the provider took the message. Give it a longer one.',
  FAILED: 'Eight attempts failed. Duplicate the campaign when the provider answers again.',
};
