import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { graphQlErrors, graphQlFailure } from '../../../src/core/graphql-errors.js';
import type { NetworkEntry } from '../../../src/core/evidence.js';
import { failing, locatorTimeout, request } from './classify-evidence.js';

const graphql = (errors: unknown, over: Partial<NetworkEntry> = {}) => {
  const responseBody = JSON.stringify({ data: null, errors });
  const failure = graphQlFailure(200, responseBody);
  return request({ url: 'http://localhost:3000/graphql', status: null, failure, responseBody, ...over });
};
const masked = { message: 'Unexpected error.', extensions: { code: 'INTERNAL_SERVER_ERROR' } };
const forbidden = { message: 'Only admins may remove tickets', extensions: { code: 'FORBIDDEN' } };

describe('graphQlErrors', () => {
  it.each([
    ['errors first', '{"errors":[{"message":"no"}],"data":null}', ['no']],
    ['errors last', '{"data":{"a":null},"errors":[{"message":"no"}]}', ['no']],
    ['a batch', '[{"data":{}},{"errors":[{"message":"no"}]}]', ['no']],
    ['no errors', '{"data":{"errors":[{"message":"no"}]}}', []],
    ['an empty list', '{"data":{},"errors":[]}', []],
    ['errors of a form', '{"errors":{"title":"no"}}', []],
    ['errors without a message', '{"errors":[{"path":["title"]}]}', []],
    ['a cut body', '{"errors":[{"message":"no', []],
    ['another text', 'no "errors"', []],
  ])('CS-7 reads %s', (_, body, messages) => {
    expect(graphQlErrors(body).map(({ message }) => message)).toEqual(messages);
  });

  it('CS-7 an answer with another status than success has failed without it', () => {
    expect(graphQlFailure(400, '{"errors":[{"message":"no"}]}')).toBeNull();
  });
});

describe('CS-7 an answer of GraphQL that reports errors with the status of a success', () => {
  it.each([
    [
      "TypeError: Cannot read properties of undefined (reading 'name')\n    at addComment (/project/server/schema.ts:63:97)",
      'runtime-error',
      'server/schema.ts:63:97',
    ],
    [
      'SqliteError: no such column: deadline\n    at tickets (/project/server/schema.ts:34:22)',
      'database-error',
      'server/schema.ts:34:22',
    ],
  ])('CS-7 is explained by what the server logged: %s', (serverOutput, category, source) => {
    const found = classify(failing(locatorTimeout, { network: [graphql([masked])], serverOutput }));
    expect(found).toMatchObject({ category, facts: { source } });
  });

  it('CS-7 is a failed request whose reason is its message', () => {
    const { category, why, facts } = classify(failing(locatorTimeout, { network: [graphql([forbidden])] }));
    expect(category).toBe('network-error');
    expect(why[0]?.evidence).toBe(
      'fetch POST /graphql → 200 with GraphQL error FORBIDDEN: Only admins may remove tickets',
    );
    expect(facts.endpoint).toBe(
      'POST /graphql → 200 with GraphQL error FORBIDDEN: Only admins may remove tickets',
    );
  });

  it('CS-7 says more than a status of 400', () => {
    const invalid = graphql(
      [{ message: 'Cannot query field "state"', extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
      { status: 400, failure: null },
    );
    const { why } = classify(failing(locatorTimeout, { network: [invalid] }));
    expect(why[0]?.evidence).toBe('GraphQL error GRAPHQL_VALIDATION_FAILED: Cannot query field "state"');
  });

  it('CS-7 counts as a refusal of the test’s own request only if the test fails because of it', () => {
    const network = [graphql([forbidden], { resourceType: 'api' }), request({ status: 200 })];
    expect(classify(failing(locatorTimeout, { network })).category).toBe('ui-error');
    const quoted = failing('Error: GraphQL: Only admins may remove tickets', { network });
    expect(classify(quoted).category).toBe('network-error');
  });

  it('CS-7 is only a hint if passing tests got it, unless the server failed itself', () => {
    const common = (error: unknown) =>
      classify(
        failing(locatorTimeout, {
          network: [graphql([error], { common: true })],
          serverOutput: 'TypeError: a is not a function',
          ofOthers: ['TypeError: a is not a function'],
        }),
      );
    expect(common(forbidden).category).toBe('ui-error');
    expect(common(masked).category).toBe('runtime-error');
  });
});
