import Vips from 'wasm-vips';

type Format = 'jpg' | 'png' | 'webp' | 'gif';
export type Drawn = {
  width: number;
  height: number;
  format: Format;
  /** Noise cannot be compressed. */
  isNoisy?: boolean;
  /** 0 is transparent, 255 is opaque; absent: no such channel. */
  alpha?: number;
  /** Notes in the metadata: a text of the owner, and how to turn the picture. */
  artist?: string;
  orientation?: number;
};

const vips = await Vips({ dynamicLibraries: [] });

/** Draws a picture with the library that the server decodes with. */
export function makePicture({ width, height, format, alpha, artist, orientation, isNoisy = false }: Drawn): Buffer {
  const plane = isNoisy
    ? vips.Image.gaussnoise(width, height, { sigma: 60, mean: 128 })
    : vips.Image.black(width, height).linear(1, 90);
  const colours = plane.bandjoin([plane, plane]).cast('uchar').copy({ interpretation: 'srgb' });
  const image =
    alpha === undefined ? colours : colours.bandjoin(vips.Image.black(width, height).linear(1, alpha).cast('uchar'));
  const noted = image.copy();
  if (artist !== undefined) noted.setString('exif-ifd0-Artist', artist);
  if (orientation !== undefined) noted.setInt('orientation', orientation);
  return Buffer.from(noted.writeToBuffer(`.${format}`));
}

/** Returns the size and the notes of a picture. */
export function readPicture(bytes: Buffer) {
  const image = vips.Image.newFromBuffer(bytes);
  const fields = image.getFields() as unknown as { size: () => number; get: (index: number) => string } | string[];
  const names = Array.isArray(fields) ? fields : Array.from({ length: fields.size() }, (_, index) => fields.get(index));
  return {
    ...{ width: image.width, height: image.height, hasAlpha: image.hasAlpha() },
    notes: names.filter((name) => /exif|xmp|iptc|icc|orientation/.test(name)),
  };
}
