import type { LimitWindow } from '../access/rate-limits.ts';

// Pictures

/**
 * File of an uploaded picture.
 * Unit: bytes per upload. Exceeded: BODY_TOO_LARGE.
 * A photo of a phone has 3 to 8 MB.
 */
export const maxPictureUploadBytes = 10 * 1024 * 1024;

/**
 * Width times height of an uploaded picture.
 * Unit: pixels per upload. Exceeded: PICTURE_UNREADABLE.
 * Checked before anything is decoded: a file of a few KB can claim thousands of megapixels. An interlaced PNG of this size takes
 * 320 MB.
 */
export const maxPicturePixels = 40_000_000;

/**
 * Longer side of a stored picture.
 * Unit: pixels per picture. Exceeded: It is made smaller.
 * The width of a large phone in pixels, which is the widest that a notification shows.
 */
export const maxPictureSide = 1_440;

/**
 * File of a stored picture.
 * Unit: bytes per picture. Exceeded: It is compressed more, then made smaller.
 * Firebase Cloud Messaging shows no picture above 1 MB.
 */
export const maxPictureBytes = 1_000_000;

/**
 * Time to decode and resize a picture.
 * Unit: seconds per upload. Exceeded: PICTURE_UNREADABLE.
 * The process that decodes it is killed then. In the single executable it is a thread, for which the next upload waits.
 */
export const maxPictureSeconds = 20;

/** Uploads that wait in a node while another is resized. Unit: uploads per node. Exceeded: OVERLOADED. */
export const maxWaitingPictures = 8;

/**
 * Space of the pictures of a workspace.
 * Unit: megabytes per workspace. Exceeded: PICTURE_SPACE_FULL. Setting: CARILLON_PICTURES_MEGABYTES.
 * About 2,000 pictures of the usual size.
 */
export const pictureMegabytes = 500;

/** Uploads of pictures. Unit: uploads per workspace. Exceeded: PICTURE_RATE_LIMITED. */
export const pictureUploadWindows: readonly LimitWindow[] = [
  { events: 20, seconds: 60 },
  { events: 300, seconds: 86_400 },
];

/**
 * Time after which a picture is deleted that no template and no unfinished campaign contains.
 * Unit: days per picture. Exceeded: It is deleted. Setting: CARILLON_KEEP_PICTURES_DAYS.
 * Notifications stay on phones for weeks.
 */
export const picturesDays = 90;

/** Time after which an upload counts as failed. Unit: minutes per upload. Exceeded: Its record and its file are deleted. */
export const pictureStoringMinutes = 60;

/**
 * Time for which devices and caches may keep a picture without asking again.
 * Unit: days per picture. Exceeded: They ask again.
 * A removed picture disappears from them after this time at the latest.
 */
export const pictureCacheDays = 30;

/** Pictures in memory, for the devices that ask at once. Unit: bytes per node. Exceeded: The longest unused is read again. */
export const pictureMemoryBytes = 32 * 1024 * 1024;

/** Pictures on a page of the console. Unit: pictures per page. Exceeded: Older ones are on the next page. */
export const maxListedPictures = 60;
