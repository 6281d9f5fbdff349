/** Errors of uploaded pictures. */
export const pictureRegistry = {
  PICTURE_UNREADABLE: {
    status: 400,
    text: 'This picture cannot be used.',
    advice: 'Upload a JPEG, PNG or WebP of at most 10 MB and 40 megapixels.',
  },
  PICTURE_SPACE_FULL: {
    status: 409,
    text: 'The pictures of this workspace use all of its space.',
    advice: 'Remove pictures that are not used, or raise CARILLON_PICTURES_MEGABYTES.',
  },
  PICTURE_RATE_LIMITED: {
    status: 429,
    text: 'Too many pictures were uploaded.',
    advice: 'Wait for the time in Retry-After. docs/limits.md has the numbers.',
  },
  PICTURE_IN_USE: {
    status: 409,
    text: 'A template, or a campaign that still sends, contains this picture.',
    advice: 'Replace the picture there, then remove it.',
  },
  PICTURE_ADDRESS_UNKNOWN: {
    status: 409,
    text: 'Phones could not load pictures from here: the public address of this installation is not set.',
    advice: 'Set CARILLON_PUBLIC_URL to the https address under which phones reach this installation.',
  },
  PICTURE_STORE_UNAVAILABLE: {
    status: 503,
    text: 'The store of the pictures did not respond as expected. Please retry.',
    advice:
      'Repeat the call. If it persists, compare the CARILLON_PICTURES_S3 settings with the store; the log has its response.',
  },
} as const;
