import { z } from 'zod';
import { jsonOf } from '../json-of.js';
import type { NetworkEntry } from '../model/evidence.js';

/** An error in the answer to a GraphQL operation. */
export interface GraphQlError {
  readonly message: string;
  /** `FORBIDDEN`, `INTERNAL_SERVER_ERROR` …; null if the server gave none. */
  readonly code: string | null;
}

const mostErrors = 10;
const longestMessage = 300;
/** The server's own failures: their code says so, or they have none. With any other code, the server refused what was asked. */
const ofTheServer = /^2\d\d with GraphQL error(?: INTERNAL_SERVER_ERROR)?: /;
const anyGraphQl = /^2\d\d with GraphQL error/;

const code = z.object({ code: z.string().regex(/^[\w-]{1,60}$/) }).transform((extensions) => extensions.code);
const error = z
  // REST answers have errors with fields of their own. https://spec.graphql.org/October2021/#sec-Errors
  .strictObject({
    message: z.string(),
    extensions: code.nullable().catch(null),
    locations: z.array(z.unknown()).nullish(),
    path: z.array(z.unknown()).nullish(),
    // Older servers have these beside the message.
    code: z.unknown().optional(),
    name: z.unknown().optional(),
    stack: z.unknown().optional(),
  })
  .transform(({ message, extensions }): GraphQlError => {
    const [line = ''] = message.trim().split('\n');
    return { message: line.slice(0, longestMessage), code: extensions };
  });
const answer = z
  .object({ errors: z.array(error.nullable().catch(null)) })
  .nullable()
  .catch(null);
const answers = z.union([z.array(answer), answer.transform((single) => [single])]);

/** Returns the errors of a GraphQL answer, or of a batch of them; none if the text is no such answer. */
export function graphQlErrors(body: string | null): GraphQlError[] {
  if (!body?.includes('"errors"')) return [];
  const errors = answers.parse(jsonOf(body)).flatMap((single) => single?.errors ?? []);
  return errors.filter((single) => single !== null).slice(0, mostErrors);
}

/**
 * Returns the error of an answer whose status says success, since GraphQL servers answer 200 and report errors in the body; null if there is
 * none.
 */
export function graphQlFailure(status: number, body: string | null): string | null {
  const [error] = status < 300 ? graphQlErrors(body) : [];
  return error ? `${status} with ${graphQlLine(error)}` : null;
}

/** Formats an error as one line, as the rules know it. */
export function graphQlLine({ code, message }: GraphQlError): string {
  return `GraphQL error${code === null ? '' : ` ${code}`}: ${message}`;
}

/** Whether the server says that it failed itself: with a status from 500 on, or in a GraphQL answer. */
export function isServerError({ status, failure }: Pick<NetworkEntry, 'status' | 'failure'>): boolean {
  return status === null ? ofTheServer.test(failure ?? '') : status >= 500;
}

/** Whether the server refused what was asked: with a status below 500, or in a GraphQL answer. */
export function isRefusal({ status, failure }: Pick<NetworkEntry, 'status' | 'failure'>): boolean {
  if (status !== null) return status >= 400 && status < 500;
  return anyGraphQl.test(failure ?? '') && !ofTheServer.test(failure ?? '');
}
