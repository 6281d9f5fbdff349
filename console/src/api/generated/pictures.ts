// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type Picture = {
  id: string;

  /** The public address. */
  url: string;
  mediaType: 'image/jpeg' | 'image/png';
  width: number;
  height: number;
  bytes: number;
  createdBy: string;
  createdAt: string;
};

export type PictureList = {
  /** Newest first, at most 60. */
  pictures: Picture[];

  /** The id to pass as `before` for older pictures; null if there are none. */
  next: string | null;
  usedBytes: number;
  maxBytes: number;

  /** Why phones cannot load the pictures: the public address is not set, or is not https. */
  fault: 'NO_PUBLIC_URL' | 'NOT_HTTPS' | null;

  /** False if no phone could load an uploaded picture. */
  mayUpload: boolean;
};

export type UploadedPicture = {
  picture: Picture;
};
