import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';

/** Squares of this many pixels are compared by their mean colour, so that a changed line of text makes little difference. */
const squarePixels = 16;
/** Of 255, as the mean of red, green and blue. */
const maxDistance = 20;

/** Returns the share of two pictures that differs, 0 to 1; 1 for pictures of different sizes. A browser page decodes them. */
export async function comparePictures(page: Page, [one, other]: readonly [string, string]): Promise<number> {
  const read = (path: string) => readFile(path, 'base64');
  const pictures: [string, string] = [await read(one), await read(other)];
  return page.evaluate(compareInPage, { pictures, squarePixels, maxDistance });
}

type Compared = { pictures: [string, string]; squarePixels: number; maxDistance: number };

/** The canvas API of a page, because the scripts are compiled without the types of browsers. */
type Drawing = {
  Image: new () => { src: string; naturalWidth: number; naturalHeight: number; decode: () => Promise<void> };
  document: {
    createElement: (name: 'canvas') => {
      width: number;
      height: number;
      getContext: (kind: '2d', options: { willReadFrequently: true }) => Brush;
    };
  };
};
type Brush = {
  drawImage: (image: InstanceType<Drawing['Image']>, left: number, top: number) => void;
  getImageData: (...square: [left: number, top: number, width: number, height: number]) => { data: Uint8ClampedArray };
};

/** Runs in the page. */
async function compareInPage({ pictures, squarePixels: size, maxDistance: most }: Compared): Promise<number> {
  const { document, Image } = globalThis as unknown as Drawing;
  const read = async (base64: string) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    return { width: canvas.width, height: canvas.height, context };
  };
  const [one, other] = await Promise.all([read(pictures[0]), read(pictures[1])]);
  if (one.width !== other.width || one.height !== other.height) return 1;
  const meanOf = (data: Uint8ClampedArray): number[] => {
    const sums = [0, 0, 0];
    for (let index = 0; index < data.length; index += 4)
      for (const channel of [0, 1, 2]) sums[channel]! += data[index + channel]!;
    return sums.map((sum) => sum / (data.length / 4));
  };
  let [squares, unlike] = [0, 0];
  for (let top = 0; top + size <= one.height; top += size)
    for (let left = 0; left + size <= one.width; left += size) {
      const [first, second] = [one, other].map(({ context }) =>
        meanOf(context.getImageData(left, top, size, size).data),
      );
      const distance = first!.reduce((sum, value, channel) => sum + Math.abs(value - second![channel]!), 0) / 3;
      squares += 1;
      if (distance > most) unlike += 1;
    }
  return unlike / squares;
}
