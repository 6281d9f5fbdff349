/** The package has no types. */
declare module 'postject' {
  /** Adds `data` to the executable `file`, in place. */
  // eslint-disable-next-line max-params -- the form is the package’s
  export function inject(file: string, name: string, data: Buffer, options: { sentinelFuse: string }): Promise<void>;
}
