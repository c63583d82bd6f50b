import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { anError, anEvidence } from '../../rig/builders.js';
import { failing, request } from './classify-evidence.js';

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
      'a module with a syntax error, which Vite only announces',
      "8:31:11 PM [vite] Internal server error: Transform failed with 1 error:\n\n[PARSE_ERROR] Expected corresponding JSX closing tag for 'footer'.\n    ╭─[ src/layout.tsx:11:34 ]\n\n  Plugin: vite:oxc\n  File: /project/src/layout.tsx",
      {
        category: 'build-error',
        why: [{ evidence: "[PARSE_ERROR] Expected corresponding JSX closing tag for 'footer'." }],
        facts: { source: 'src/layout.tsx:11:34' },
      },
    ],
    [
      'a plugin that throws during the build',
      '✗ Build failed in 455ms\nerror during build:\nBuild failed with 1 error:\n\n[plugin build-info]\nError: BUILD_VERSION is not set\n    at LoadPluginContextImpl.load (file:///project/vite.config.ts:12:43)',
      { category: 'build-error', why: [{ evidence: 'Error: BUILD_VERSION is not set' }] },
    ],
    [
      'a component that Astro cannot compile, not what Vite logged before',
      '20:33:06 [vite] Re-optimizing dependencies because vite config has changed\n20:33:08 [ERROR] [CompilerError] Unexpected token\n  Stack trace:\n    at /project/src/pages/index.astro:15:4',
      {
        category: 'build-error',
        why: [{ evidence: '[CompilerError] Unexpected token' }],
        facts: { source: 'src/pages/index.astro:15:4' },
      },
    ],
    [
      'a module that Astro cannot import',
      '20:35:13 [ERROR] Could not import `../lib/words`.\n  Hint:\n    This is often caused by a typo in the import path.',
      { category: 'build-error', why: [{ evidence: 'Could not import `../lib/words`.' }] },
    ],
    [
      'content that does not match its schema',
      '[InvalidContentEntryDataError] notes → beans data does not match collection schema.\n\n  sown: Required\n  Location:\n    /project/src/content/notes/beans.md:3:1\n  Stack trace:\n    at getEntryData (/project/node_modules/astro/dist/content/utils.js:126:9)',
      { category: 'build-error', facts: { source: 'src/content/notes/beans.md:3:1' } },
    ],
    [
      'an exception whose name is in brackets',
      '[NoAdapterInstalled] Hint\n[SessionStorageInitError] Error when initializing session storage',
      {
        category: 'runtime-error',
        why: [{ evidence: '[SessionStorageInitError] Error when initializing session storage' }],
      },
    ],
    [
      'a command that is not installed',
      '/bin/sh: 1: bun: not found',
      { category: 'build-error', why: [{ evidence: '/bin/sh: 1: bun: not found' }] },
    ],
    [
      'a database that Prisma cannot reach',
      "PrismaClientKnownRequestError: \nInvalid `db.tool.findMany()` invocation in\n/project/app/home.tsx:12:31\n\nCan't reach database server at 127.0.0.1:5432\n    at x (/project/node_modules/@prisma/client/x.js:1:1) {\n  code: 'P1001',",
      { category: 'database-error', why: [{ evidence: "Can't reach database server at 127.0.0.1:5432" }] },
    ],
    [
      'a call that Prisma refuses',
      'PrismaClientValidationError: \nInvalid `db.tool.findMany()` invocation in\n/project/app/home.tsx:12:31\n\n→ 12   const tools = await db.tool.findMany({\n           rack: true,\n           ~~~~\n       })\n\nUnknown field `rack` for include statement on model `Tool`. Available options are marked with ?.',
      {
        category: 'database-error',
        why: [
          {
            evidence:
              'Unknown field `rack` for include statement on model `Tool`. Available options are marked with ?.',
          },
        ],
      },
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
    const { why, ...found } = classify(anEvidence({ errors, serverOutput }));
    expect({ ...found, why: why.slice(0, 1) }).toMatchObject(diagnosis);
  });
});

describe('CS-8 what a plugin of the development server says', () => {
  const refused = request({
    method: 'POST',
    url: 'http://localhost:8000/api/login',
    status: null,
    failure: 'net::ERR_CONNECTION_REFUSED',
  });
  it.each([
    [
      'advice is no reason',
      '[vite:react-swc] We recommend switching to `@vitejs/plugin-react` for improved performance as no swc plugins are used.',
      'network-error',
    ],
    ['an error is one', '[vite:react-swc] Unexpected token, expected a comma', 'build-error'],
    [
      'an error with advice is one',
      '[vite:css] We recommend a newer Sass: it failed to compile src/a.scss',
      'build-error',
    ],
  ])('CS-8 %s', (_, serverOutput, category) => {
    const evidence = failing('Error: page.waitForURL: Test timeout of 30000ms exceeded.', {
      serverOutput,
      network: [refused],
    });
    expect(classify(evidence).category).toBe(category);
  });
});
