/**
 * What the words of this field mean here, on pointing at one wherever it stands. The table of docs/console.md is made of it
 * (`npm run docs:generate`).
 */
export const glossary = {
  Audience:
    'People the campaign was addressed to when each run began, with or without a device; below a platform those with a device of it that is sent to. Someone reached by two runs counts twice.',
  Reachable:
    'Devices of these people on the chosen platforms that accept push messages: with a token, opted in, not blocked and not gone. Below a platform those that were processed so far.',
  Accepted:
    'Devices whose message the provider (FCM, APNs or a push service) accepted. It does not mean that the phone was on.',
  Shown:
    'Devices that reported that the message was shown. Apps report it through the SDK call or service worker; those that do not are missing here.',
  Clicked: 'Devices on which the message was opened, as reported by the app.',
  Converted:
    'People who reached a conversion goal, each once a run and goal. Someone with devices of two platforms is one of each.',
  'Not delivered':
    'Devices whose message was refused, withheld, expired or failed, or whose address the provider does not know any more.',
  Waiting: 'It is tried again, or its time has not come.',
  Withheld: 'A rule of yours kept it back: a frequency cap, quiet hours, a control group.',
  Gone: 'The provider knows no such address any more; the device is out of later audiences.',
  Rejected: 'The provider refused the message for good.',
  Expired: 'Its time to live ended before it could be delivered, or it was stopped.',
  Failed: 'It could not be made or sent.',
  'Opted out': 'Devices whose owner turned messages off.',
  Blocked: 'Devices that were blocked through the API or here.',
  Found: 'Lines in the file of a segment; a trailing newline adds none.',
  Processed: 'Lines of the file that are left after empty, invalid and duplicate ones were skipped.',
  People: 'People named by a line of the file whom the operation added or removed.',
} as const;

export type GlossaryWord = keyof typeof glossary;
