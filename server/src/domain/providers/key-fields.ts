import { createPrivateKey } from 'node:crypto';

/**
 * The fields of a provider's key by their names in a request. The console's form, the options of the command line, the shape
 * of the request's body and the type of the parsed key derive from them.
 */
export type KeyFields = Readonly<Record<string, KeyField>>;

export type KeyField = TextField | ChoiceField | PairField;

type Labelled = {
  label: string;
  hint: string;
  /** True if the form gives the field a whole row. */
  isWide?: true;
};

/** The option of the command line that gives a field. */
type FieldOption = {
  flags: string;
  description: string;
  /** The property of the app that is used if the option is absent. */
  fromApp?: 'identifier' | 'environment';
  /** The value if there is neither the option nor an app. */
  otherwise?: string;
  /** Reported if there is no value at all. */
  missing?: string;
};

/** `file`: a text that its owner has as a file. `secret`: never shown again; the command line reads it from a file. */
export type TextField = Labelled & {
  kind: 'text' | 'secret' | 'file';
  isOptional?: true;
  /** File names that the form offers. */
  accept?: string;
  option: FieldOption;
};

export type ChoiceField = Labelled & {
  kind: 'choice';
  choices: Readonly<Record<string, string>>;
  option: FieldOption;
};

/** Fields that are given together or not at all. */
export type PairField = {
  kind: 'pair';
  isOptional: true;
  fields: Readonly<Record<string, TextField>>;
  /** Reported if only one of them is given. */
  incomplete: string;
};

type ValueOf<Field extends KeyField> = Field extends ChoiceField
  ? keyof Field['choices'] & string
  : Field extends PairField
    ? { [Name in keyof Field['fields']]: string }
    : string;

type OptionalName<Fields extends KeyFields> = {
  [Name in keyof Fields]: Fields[Name] extends { isOptional: true } ? Name : never;
}[keyof Fields];

/** A key as its owner gives it. */
export type KeyOf<Fields extends KeyFields> = {
  -readonly [Name in Exclude<keyof Fields, OptionalName<Fields>>]: ValueOf<Fields[Name]>;
} & { -readonly [Name in OptionalName<Fields>]?: ValueOf<Fields[Name]> | undefined };

/** Thrown for a key that cannot be a credential. The message says what is wrong and never contains key material. */
export class ProviderKeyError extends Error {
  override readonly name = 'ProviderKeyError';
}

/** Maximum characters of a key file. */
export const maxKeyFile = 16_384;

/** Returns the text of a key file without the byte order mark that editors on Windows put before it. */
export function readKeyFile(text: string): string {
  return text.replace(/^\uFEFF/, '');
}

/**
 * Returns a PEM text with real line ends. A key that passed through an environment variable or a form often has the two
 * characters `\\n` instead; no PEM contains a backslash, so they are unambiguous (RFC 7468 §3).
 */
export function readPem(text: string): string {
  return readKeyFile(text)
    .replaceAll(/\\r?\\n|\\n|\r\n/g, '\n')
    .replaceAll('\\r', '');
}

/** @throws ProviderKeyError unless a PEM text is a private key of the type */
export function requirePrivateKey(pem: string, type: 'rsa' | 'ec'): void {
  let key: ReturnType<typeof createPrivateKey>;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new ProviderKeyError('The private key cannot be read.');
  }
  const { asymmetricKeyType, asymmetricKeyDetails } = key;
  const isRight =
    asymmetricKeyType === type &&
    (type === 'rsa'
      ? (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048
      : asymmetricKeyDetails?.namedCurve === 'prime256v1');
  if (!isRight)
    throw new ProviderKeyError(`The private key is not ${type === 'rsa' ? 'RSA of 2048 bits or more' : 'P-256'}.`);
}
