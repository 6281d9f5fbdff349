/** Evenly from 0 to 1, without the ends; the same sequence for the same seed. */
export type Uniform = () => number;

/**
 * Numbers from a seed, by sfc32 (Chris Doty-Humphrey's PractRand): 128 bits of state, and fast where numbers have 32 bits.
 *
 * @param seed 16 bytes, evenly distributed
 */
export function makeUniform(seed: Buffer): Uniform {
  let [a, b, c, counter] = [0, 4, 8, 12].map((place) => seed.readInt32LE(place)) as [number, number, number, number];
  return () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return ((sum >>> 0) + 0.5) / 2 ** 32;
  };
}

/** A draw of the beta distribution, by two of the gamma distribution; both parameters are 1 or greater. */
export function drawBeta(uniform: Uniform, { alpha, beta }: { alpha: number; beta: number }): number {
  const one = drawGamma(uniform, alpha);
  return one / (one + drawGamma(uniform, beta));
}

/** By Marsaglia and Tsang (2000), which holds from a shape of 1 on and hardly ever rejects. */
function drawGamma(uniform: Uniform, shape: number): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = drawNormal(uniform);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(uniform()) < (x * x) / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** By Box and Muller (1958). */
function drawNormal(uniform: Uniform): number {
  return Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}
