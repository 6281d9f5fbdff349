import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ServiceError } from '../../src/domain/errors.ts';
import { makePreparePicture } from '../../src/engine/pictures/prepare-picture.ts';
import { maxPictureBytes, maxPictureUploadBytes } from '../../src/domain/limits/pictures.ts';
import { makePicture, readPicture } from './make-picture.ts';
import { joinPng, makeNoisyPng, pngChunk } from './make-png.ts';

describe('an uploaded picture', () => {
  const prepare = makePreparePicture();
  const reasonOf = (file: Buffer): Promise<string> =>
    prepare(file).then(
      () => 'accepted',
      (error: ServiceError) => error.context.reason!,
    );

  test.each(['jpg', 'png', 'webp'] as const)(
    'is made smaller and becomes a JPEG if it is a large %s',
    async (format) => {
      const prepared = await prepare(makePicture({ width: 2_000, height: 1_000, format }));
      expect(prepared).toMatchObject({ mediaType: 'image/jpeg', width: 1_440, height: 720 });
      expect(readPicture(prepared.bytes)).toEqual({ width: 1_440, height: 720, hasAlpha: false, notes: [] });
    },
  );

  test('is not enlarged', async () => {
    expect(await prepare(makePicture({ width: 40, height: 30, format: 'png' }))).toMatchObject({
      width: 40,
      height: 30,
    });
  });

  test('remains a PNG if a part of it is transparent, and only then', async () => {
    const of = async (alpha: number) => {
      const { mediaType, bytes } = await prepare(makePicture({ width: 60, height: 60, format: 'png', alpha }));
      return [mediaType, readPicture(bytes).hasAlpha];
    };
    expect(await of(120)).toEqual(['image/png', true]);
    expect(await of(255)).toEqual(['image/jpeg', false]);
  });

  test('loses its metadata, and is turned as the metadata says', async () => {
    const file = makePicture({
      width: 300,
      height: 100,
      format: 'jpg',
      artist: 'Ada of 12 Elm Street',
      orientation: 6,
    });
    expect(file.includes('12 Elm Street')).toBe(true);
    expect(readPicture(file).notes).toContain('orientation');
    const prepared = await prepare(file);
    expect(prepared).toMatchObject({ width: 100, height: 300 });
    expect(prepared.bytes.includes('12 Elm Street')).toBe(false);
    expect(readPicture(prepared.bytes).notes).toEqual([]);
  });

  test('has at most 1 MB, even if it hardly compresses', async () => {
    const file = makePicture({ width: 1_440, height: 1_440, format: 'png', isNoisy: true });
    expect(file.length).toBeGreaterThan(2 * maxPictureBytes);
    const { bytes } = await prepare(file);
    expect(bytes.length).toBeLessThanOrEqual(maxPictureBytes);
  });

  test('may have the largest file that can be uploaded', async () => {
    const file = makeNoisyPng({ width: 1_860, height: 1_860 });
    expect(file.length / maxPictureUploadBytes).toBeCloseTo(0.99, 1);
    expect(file.length).toBeLessThanOrEqual(maxPictureUploadBytes);
    expect(await prepare(file)).toMatchObject({ mediaType: 'image/jpeg' });
  });

  test('is rejected before it is decoded if it claims more pixels than the limit', async () => {
    const bomb = makeBomb(100_000, 100_000);
    expect(bomb.length).toBeLessThan(1_000);
    const begunAt = performance.now();
    expect(await reasonOf(bomb)).toBe('It has 10000 megapixels, and the maximum is 40');
    expect(performance.now() - begunAt).toBeLessThan(5_000);
  });

  test('is rejected with its reason if it is of another format, or damaged', async () => {
    const whole = makePicture({ width: 400, height: 400, format: 'jpg', isNoisy: true });
    expect(await reasonOf(whole.subarray(0, whole.length / 2))).toContain('The file is damaged');
    expect(await reasonOf(Buffer.concat([whole.subarray(0, 20), Buffer.alloc(4_000, 7)]))).toContain('is damaged');
    expect(await reasonOf(makePicture({ width: 4, height: 4, format: 'gif' }))).toContain('It is a GIF');
    expect(await reasonOf(Buffer.from('\0\0\0\x18ftypheic\0\0\0\0', 'latin1'))).toContain(
      'It is a HEIC; save it as a JPEG',
    );
    for (const text of ['<svg xmlns="http://www.w3.org/2000/svg"/>', '<script>alert(1)</script>', '%PDF-1.7', ''])
      expect(await reasonOf(Buffer.from(text))).toContain('It is not a JPEG, PNG or WebP');
  });

  test('is rejected if it moves, and accepted if it could move and does not', async () => {
    const still = makePicture({ width: 4, height: 4, format: 'png' });
    const control = pngChunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]));
    const afterHeader = 8 + 12 + 13;
    const animated = Buffer.concat([still.subarray(0, afterHeader), control, still.subarray(afterHeader)]);
    expect(await reasonOf(animated)).toBe(
      'It is an animated PNG, which would lose its motion here; give the address of one that is hosted elsewhere',
    );
    // Behind the picture it has no meaning.
    expect(await reasonOf(Buffer.concat([still.subarray(0, -12), control, still.subarray(-12)]))).toBe('accepted');

    // The library adds the extended header for an alpha channel.
    const webp = makePicture({ width: 4, height: 4, format: 'webp', alpha: 120, artist: 'Ada' });
    expect(webp.toString('latin1', 12, 16)).toBe('VP8X');
    expect(await reasonOf(webp)).toBe('accepted');
    const flagged = Buffer.from(webp);
    flagged[20]! |= 2;
    expect(await reasonOf(flagged)).toContain('It is an animated WebP, which would lose its motion here');
    const described = Buffer.concat([webp, Buffer.from('ANIM\x06\0\0\0\0\0\0\0\0\0', 'latin1')]);
    expect(await reasonOf(described)).toContain('It is an animated WebP');
  });

  test('is given up after the time limit, and the next one is prepared', async () => {
    const impatient = makePreparePicture({ seconds: 0.001 });
    const file = makePicture({ width: 60, height: 60, format: 'png' });
    await expect(impatient(file)).rejects.toMatchObject({
      context: { reason: 'Decoding it takes longer than 0.001 s' },
    });
    expect(await prepare(file)).toMatchObject({ width: 60 });
  });

  test('waits for a few others, and is rejected if more than these wait', async () => {
    const busy = makePreparePicture();
    const file = makePicture({ width: 60, height: 60, format: 'png' });
    const outcomes = await Promise.allSettled(Array.from({ length: 11 }, () => busy(file)));
    const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused.map(({ reason }) => reason.code)).toEqual(['OVERLOADED', 'OVERLOADED']);
  }, 60_000);
});

/** A PNG of a few hundred bytes whose header claims this size. */
function makeBomb(width: number, height: number): Buffer {
  return joinPng({ width, height, isInterlaced: false }, deflateSync(Buffer.alloc(10_000)));
}
