import type { Schemes } from '../request-reader/address-fault.ts';

/** A place whose text may be a person's own, and what the text must be there. */
export type TextPlace = {
  /** As in `richContent[0].value`. */
  field: string;
  longest: number;
  /** Absent: any text will do. */
  schemes?: Schemes;
  isRequired: boolean;
};

/** @returns the text for that place; undefined to leave an optional place empty */
export type ChangeText = (text: string, place: TextPlace) => string | undefined;
