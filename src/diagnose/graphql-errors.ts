import { z } from 'zod';
import { parseJson } from '../parse-json.js';
import type { NetworkEntry } from '../model/evidence.js';

/** An error in the response to a GraphQL operation. */
export interface GraphQlError {
  readonly message: string;
  /** `FORBIDDEN`, `INTERNAL_SERVER_ERROR` …; null if the server gave none. */
  readonly code: string | null;
}

const MAX_ERRORS = 10;
const MAX_MESSAGE = 300;
/** A failure of the server itself has this code or none. With any other code, the server refused the request. */
const serverFailure = /^2\d\d with GraphQL error(?: INTERNAL_SERVER_ERROR)?: /;
const anyGraphQl = /^2\d\d with GraphQL error/;

const code = z.object({ code: z.string().regex(/^[\w-]{1,60}$/) }).transform((extensions) => extensions.code);
const error = z
  // REST responses have errors with fields of their own. https://spec.graphql.org/October2021/#sec-Errors
  .strictObject({
    message: z.string(),
    extensions: code.nullable().catch(null),
    locations: z.array(z.unknown()).nullish(),
    path: z.array(z.unknown()).nullish(),
    // Older servers put these next to the message.
    code: z.unknown().optional(),
    name: z.unknown().optional(),
    stack: z.unknown().optional(),
  })
  .transform(({ message, extensions }): GraphQlError => {
    const [line = ''] = message.trim().split('\n');
    return { message: line.slice(0, MAX_MESSAGE), code: extensions };
  });
const response = z
  .object({ errors: z.array(error.nullable().catch(null)) })
  .nullable()
  .catch(null);
const responses = z.union([z.array(response), response.transform((single) => [single])]);

/** Returns the errors in a GraphQL response, or in a batch of them; none if the text is not such a response. */
export function parseGraphQlErrors(body: string | null): GraphQlError[] {
  if (!body?.includes('"errors"')) return [];
  const errors = responses.parse(parseJson(body)).flatMap((single) => single?.errors ?? []);
  return errors.filter((single) => single !== null).slice(0, MAX_ERRORS);
}

/** Returns the first GraphQL error of a response with a status below 300: such servers often send 200 even for errors. Null if there is none. */
export function findGraphQlFailure(status: number, body: string | null): string | null {
  const [error] = status < 300 ? parseGraphQlErrors(body) : [];
  return error ? `${status} with ${formatGraphQlError(error)}` : null;
}

/** Formats an error as one line, in the format that the rules match. */
export function formatGraphQlError({ code, message }: GraphQlError): string {
  return `GraphQL error${code === null ? '' : ` ${code}`}: ${message}`;
}

/** True if the server failed: with a status of 500 or above, or according to a GraphQL response. */
export function isServerError({ status, failure }: Pick<NetworkEntry, 'status' | 'failure'>): boolean {
  return status === null ? serverFailure.test(failure ?? '') : status >= 500;
}

/** True if the server refused the request: with a status below 500, or according to a GraphQL response. */
export function isRefusal({ status, failure }: Pick<NetworkEntry, 'status' | 'failure'>): boolean {
  if (status !== null) return status >= 400 && status < 500;
  return anyGraphQl.test(failure ?? '') && !serverFailure.test(failure ?? '');
}
