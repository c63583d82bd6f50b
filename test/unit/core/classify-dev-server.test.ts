import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { anError, anEvidence } from '../../rig/builders.js';

const failedToLoad = '5:06:11 PM [vite] (ssr) Error when evaluating SSR module /src/routes/+page.svelte:';

describe('CS-10 a server that does not become available', () => {
  it.each([
    [
      'a component that Svelte cannot compile',
      `${failedToLoad} /project/src/Card.svelte:9:0 \`</artcle>\` is no element\nhttps://svelte.dev/e/element_no\n  Plugin: vite-plugin-svelte:compile\n  File: /project/src/Card.svelte:9:0\n\n[500] GET /`,
      { category: 'build-error', facts: { source: 'src/Card.svelte:9:0' } },
    ],
    [
      'a component that Vue cannot compile',
      ' WARN  [VUE_ROUTER_R0010] Uncaught error during route navigation\n ERROR  /components/PriceTag.vue — Invalid end tag.\n\n    at createCompilerError (node_modules/@vue/compiler-core/dist/compiler-core.cjs.js:1378:17)',
      { category: 'build-error', why: [{ evidence: 'ERROR  /components/PriceTag.vue — Invalid end tag.' }] },
    ],
    [
      'a module that throws a TypeError',
      `${failedToLoad} Cannot read properties of undefined (reading 'url')\n\n[500] GET /`,
      { category: 'runtime-error' },
    ],
    [
      'a provider that Nest cannot find',
      "[Nest] 13089  - 11/23/2026, 5:56:19 PM     LOG [NestFactory] Starting Nest application...\n[Nest] 13089  - 11/23/2026, 5:56:19 PM   ERROR [ExceptionHandler] UnknownDependenciesException [Error]: Nest can't resolve dependencies of the UsersController (UsersService, ?).",
      {
        category: 'runtime-error',
        why: [
          {
            evidence:
              "UnknownDependenciesException [Error]: Nest can't resolve dependencies of the UsersController (UsersService, ?).",
          },
        ],
      },
    ],
    [
      'a setting that is missing',
      '[500] GET /\nError: DB_URL is not set\n    at /project/src/db.ts:6:24',
      { category: 'runtime-error', facts: { source: 'src/db.ts:6:24' } },
    ],
  ])('CS-10 because of %s', (_, serverOutput, diagnosis) => {
    const errors = [anError('Error: Timed out waiting 60000ms from config.webServer.')];
    expect(classify(anEvidence({ errors, serverOutput }))).toMatchObject(diagnosis);
  });
});
