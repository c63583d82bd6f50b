import { normalise } from './normalise.js';

/** What a failure's signature is made of. */
export interface SignatureParts {
  readonly project: string;
  /** The error's own name, `TypeError` say. */
  readonly errorType: string;
  readonly message: string;
}

const hashDigits = 8;

/**
 * The key under which a failure is remembered: `{project}:{errorType}:{hash}`, hash being the first 8 hexadecimal digits of
 * the MD5 of the normalised message (ME-1). `md5Hex` hashes a text's UTF-8 bytes.
 */
export function signatureOf(
  { project, errorType, message }: SignatureParts,
  md5Hex: (text: string) => string,
): string {
  return `${project}:${errorType}:${md5Hex(normalise(message)).slice(0, hashDigits)}`;
}
