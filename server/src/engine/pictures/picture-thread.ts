import { parentPort, workerData } from 'node:worker_threads';
import Vips from 'wasm-vips';
import { maxPictureBytes, maxPicturePixels, maxPictureSide } from '../../domain/limits/pictures.ts';
import { damagedPicture } from '../../domain/pictures.ts';
import type { DecoderAnswer } from './start-thread.ts';

/** Tried in this order until the file is small enough. */
const sizes = [
  { side: maxPictureSide, quality: 82 },
  { side: maxPictureSide, quality: 65 },
  { side: 1_080, quality: 65 },
  { side: 720, quality: 65 },
  { side: 360, quality: 50 },
];

const vips = await Vips({ dynamicLibraries: [], printErr: () => undefined });
vips.concurrency(1);
vips.Cache.max(0);
// Strangers' files reach three decoders and no other. The formats were recognised by their first bytes already.
vips.operationBlock('VipsForeignLoad', true);
for (const format of ['Jpeg', 'Png', 'Webp']) vips.operationBlock(`VipsForeignLoad${format}`, false);
parentPort!.postMessage(prepare(workerData as Uint8Array));

function prepare(file: Uint8Array): DecoderAnswer {
  try {
    // Reads the header only.
    const header = vips.Image.newFromBuffer(file);
    const pixels = header.width * header.height;
    if (pixels > maxPicturePixels)
      return { fault: `It has ${Math.ceil(pixels / 1e6)} megapixels, and the maximum is ${maxPicturePixels / 1e6}` };
    for (const size of sizes) {
      const picture = shrink(file, size);
      if (picture.bytes.length <= maxPictureBytes) return { picture };
    }
    return { fault: 'It cannot be compressed to 1 MB' };
  } catch {
    // The decoder's own message names its parts, which says nothing to the person who uploads.
    return { fault: damagedPicture };
  }
}

function shrink(file: Uint8Array, { side, quality }: (typeof sizes)[number]) {
  // Never enlarges, turns the picture upright by its metadata, and converts its colours to sRGB.
  const image = vips.Image.thumbnailBuffer(file, side, {
    ...{ height: side, size: 'down', output_profile: 'srgb' },
    // A file that breaks off would become grey below.
    option_string: 'fail_on=truncated',
    // The decoders read from top to bottom once; the small picture is read again.
  }).copyMemory();
  const { width, height } = image;
  // Metadata can contain the place and the owner of the camera.
  const keep = 'none';
  if (isTransparent(image))
    return { mediaType: 'image/png' as const, width, height, bytes: image.pngsaveBuffer({ keep, compression: 9 }) };
  const opaque = image.hasAlpha() ? image.flatten() : image;
  const bytes = opaque.jpegsaveBuffer({ keep, Q: quality, optimize_coding: true });
  return { mediaType: 'image/jpeg' as const, width, height, bytes };
}

/** True if a pixel is not opaque. Screenshots often have an alpha channel and no transparent pixel. */
function isTransparent(image: ReturnType<typeof vips.Image.newFromBuffer>): boolean {
  return image.hasAlpha() && image.extractBand(image.bands - 1).min() < 255;
}
