import { stripAnsi } from '../visible-text.js';
import { parseComplaint, findMarkedLine, orderErrors } from './complaint.js';
import type { TestFailure } from '../model/failure.js';
import { normalize } from './normalize.js';

/** The parts of a failure's signature. */
export interface SignatureParts {
  readonly project: string;
  /** The error's own name, such as `TypeError`. */
  readonly errorType: string;
  readonly message: string;
}

const HASH_DIGITS = 8;

/**
 * Creates the key under which the store remembers a failure: `{project}:{errorType}:{hash}`, where the hash is the first 8 hexadecimal
 * digits of the MD5 of the normalized message (ME-1). `md5Hex` hashes a text's UTF-8 bytes.
 */
export function createSignature(
  { project, errorType, message }: SignatureParts,
  md5Hex: (text: string) => string,
): string {
  return `${project}:${errorType}:${md5Hex(normalize(message)).slice(0, HASH_DIGITS)}`;
}

/**
 * Returns the text that a test failure's signature hashes: its most specific error and, if that names no subject ("Expected: true, Received:
 * false", or only a timeout), also the line of the test, or else the step. Replaces a call log with its result, because the states of the page that it
 * lists depend on timing.
 */
export function selectTextToHash(failure: Pick<TestFailure, 'errors' | 'failedStep' | 'test'>): string {
  const { errors, failedStep, test } = failure;
  const [error] = orderErrors(errors);
  const { kind, subject, detail } = parseComplaint(errors);
  const message = stripAnsi(error?.message ?? '');
  const log = message.search(/^[ \t]*Call log:/m);
  const symptom = [kind, subject, kind === 'covered' ? detail : null]
    .filter((part) => part !== null)
    .join(' ');
  const text = log === -1 ? message : `${message.slice(0, log)}${symptom}`;
  if (subject !== null || kind === 'other') return text;
  return `${text}\n${(error && findMarkedLine(error)) ?? failedStep ?? test.titlePath.join(' › ')}`;
}
