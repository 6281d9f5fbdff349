import { pictureMegabytes } from '../domain/limits/pictures.ts';

/** The store of uploaded pictures. */
export const pictureSettings = {
  pictureMegabytes: {
    kind: 'integer',
    variable: 'CARILLON_PICTURES_MEGABYTES',
    minimum: 1,
    maximum: 1_000_000,
    default: pictureMegabytes,
    unit: 'megabytes',
    sentence: 'Space for the uploaded pictures of a workspace.',
  },
  pictureS3Url: {
    kind: 'text',
    variable: 'CARILLON_PICTURES_S3_URL',
    pattern: /^https?:\/\/[^\s?#@]+$/,
    default: undefined,
    sentence:
      'Address of a bucket with the S3 protocol, for uploaded pictures, such as `https://s3.eu-central-1.amazonaws.com/my-bucket` ([pictures](operations.md#uploaded-pictures)). It may be internal. Without it the database has them.',
  },
  pictureS3Region: {
    kind: 'text',
    variable: 'CARILLON_PICTURES_S3_REGION',
    pattern: /^[a-z0-9-]{1,40}$/,
    default: 'us-east-1',
    sentence: 'Region of that bucket, which is part of the signature. Most stores other than AWS accept the default.',
  },
  pictureS3KeyId: {
    kind: 'text',
    variable: 'CARILLON_PICTURES_S3_KEY_ID',
    default: undefined,
    sentence:
      'Id of the access key of that bucket. It needs to read, write and delete objects; if it may also list them, a lost object is reported as missing and not as forbidden.',
  },
  pictureS3Secret: {
    kind: 'secret',
    variable: 'CARILLON_PICTURES_S3_SECRET',
    default: undefined,
    sentence: 'Secret of that access key.',
  },
} as const;
