import { slower } from './advice.ts';

/** Errors of the push family (interface 7, decision D31). `field` and `reason` fill the public text. */
export const pushRegistry = {
  PUSH_REQUEST_TYPE_INVALID: {
    status: 400,
    text: 'Invalid Request Type',
    advice: 'Send requestType as push, or leave it out.',
  },
  PUSH_APP_ID_INVALID: {
    status: 400,
    text: 'Invalid appId',
    advice: 'The workspace id in appId or X-SVC-APPKEY is unknown. Copy it from the overview.',
  },
  PUSH_APP_ID_MISSING: {
    status: 400,
    text: 'appId not present',
    advice: 'Send the workspace id: appId in the body of v2, the header X-SVC-APPKEY in v2.1.',
  },
  PUSH_NAME_MISSING: {
    status: 400,
    text: 'Campaign Name not found',
    advice: 'Send campaignName. The signature covers it.',
  },
  PUSH_NAME_TOO_SHORT: {
    status: 400,
    text: 'Campaign Name too short (must be >= 5 chars)',
    advice: 'Give the campaign a name of five characters or more.',
  },
  PUSH_RATE_LIMITED: {
    status: 429,
    text: 'Request limit exceeded',
    advice: slower,
  },
  PUSH_SIGNATURE_MISSING: {
    status: 401,
    text: 'Signature not present',
    advice:
      'Sign the call: SHA-256 in lower-case hex of <workspace id>|<campaignName>|<push key>, as signature in v2 or X-SVC-PushAPI-Signature in v2.1.',
  },
  PUSH_SIGNATURE_INVALID: {
    status: 401,
    text: 'Signature is not verified',
    advice:
      'Sign exactly <workspace id>|<campaignName>|<push key>: the name as it is in the body (spaces count) and the secret of a push key of this workspace, as SHA-256 in lower-case hex.',
  },
  PUSH_NAME_DUPLICATE: {
    status: 409,
    text: 'Duplicate campaign name',
    advice:
      'A campaign with this name exists. Choose another name. Only sends to a single user can join an existing campaign.',
  },
  PUSH_VALUE_NOT_ALLOWED: {
    status: 400,
    text: 'Key not of Type List or Value not allowed: <field>',
    advice: 'Use one of the values that the API reference lists for the field, with the documented JSON type.',
  },
  PUSH_PARAMETER_INVALID: {
    status: 400,
    text: 'Error parsing parameters: <field>: <reason>',
    advice: 'Correct the named field. The reason follows its name.',
  },
} as const;
