/** The result of one check of the doctor. */
export type Diagnosis = {
  check: string;
  /** `wrong`: something is not sent or will not start. `attention`: it works, but should be looked at. */
  state: 'good' | 'attention' | 'wrong';
  found: string;
  /** The remedy. */
  todo?: string;
};

/** Makes the results of one check. */
export function diagnosing(check: string) {
  return {
    good: (found: string): Diagnosis => ({ check, state: 'good', found }),
    attention: (found: string, todo: string): Diagnosis => ({ check, state: 'attention', found, todo }),
    wrong: (found: string, todo: string): Diagnosis => ({ check, state: 'wrong', found, todo }),
  };
}

export function showBytes(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`;
}
