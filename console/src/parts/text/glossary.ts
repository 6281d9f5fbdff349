/** Definitions of terms, shown on hover. docs/console.md has a table of them (`npm run docs:generate`). */
export const glossary = {
  Audience:
    'People the campaign was addressed to when each run began, with or without a device. Per platform: those with a device of it that is sent to. Someone reached by two runs counts twice.',
  Reachable:
    'Devices of these people on the chosen platforms that accept push messages: with a token, opted in, not blocked and not gone. Per platform: those processed so far.',
  Accepted:
    'Devices whose message the provider (FCM, APNs or a push service) accepted. It does not mean that the phone was on.',
  Shown:
    'Devices that reported that the message was shown. Apps report it through an SDK call or the service worker; those that do not report are not counted.',
  Clicked: 'Devices on which the message was opened, as reported by the app.',
  Converted:
    'People who reached a conversion goal, counted once per run and goal. Someone with devices of two platforms counts for each.',
  'Not delivered':
    'Devices whose message was refused, withheld, expired or failed, or whose address the provider no longer knows.',
  Waiting: 'Carillon retries it later, or it is not due yet.',
  Withheld: 'One of your rules blocked it: a frequency cap, quiet hours or a control group.',
  Gone: 'The provider no longer knows the address; the device is left out of later audiences.',
  Rejected: 'The provider rejected the message permanently.',
  Expired: 'Its time to live ended before it could be delivered, or it was stopped.',
  Failed: 'It could not be rendered or sent.',
  'Opted out': 'Devices whose owner turned messages off.',
  Blocked: 'Devices blocked through the API or in the console.',
  Found: 'Lines in the segment file; a trailing newline adds none.',
  Processed: 'Lines left after empty, invalid and duplicate ones were skipped.',
  'Last seen': 'The newest registration of a device or an app, or event of the last 30 days.',
  People: 'People named by a line of the file whom the operation added or removed.',
} as const;

export type GlossaryWord = keyof typeof glossary;
