import { describe, expect, it } from 'vitest';
import { places, requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';

const file = 'src/cart.ts';

async function rulesOf(before: string, after: string): Promise<string[]> {
  const request = requestOf([[file, after]], 'runtime-error', [[file, before]]);
  const { violations } = await judge({ ...request, healed: places.testFiles });
  return violations.map(({ rule }) => rule);
}

const load = 'export async function load(url) {\n  return (await fetch(url)).json();\n}\n';
const route =
  "app.get('/tea', async (request, reply) => {\n  return reply.send(await read(request.params.id));\n});\n";
const handler = 'app.setErrorHandler((error, request, reply) => {\n  reply.code(500).send({});\n});\n';

describe('HN-3 error handling of the app', () => {
  it.each([
    [
      'the user sees a message',
      load,
      load.replace(
        'return (await fetch(url)).json();',
        'try {\n    return (await fetch(url)).json();\n  } catch {\n    show("The shop does not answer");\n  }',
      ),
    ],
    ['the fallback is an empty list', load, load.replace('.json()', '.json().catch(() => [])')],
    [
      'a parameter is destructured',
      'export function configOf(settings) {\n  return pick(settings);\n}\n',
      'export function configOf({ limits, agents }) {\n  return { limits, agents };\n}\n',
    ],
    [
      'a lint rule is disabled with a reason',
      load,
      `// eslint-disable-next-line no-undef -- the browser has it\n${load}`,
    ],
    ['the fallback is null', load, load.replace('.json()', '.json().catch(() => null)')],
    [
      'the fallback is the last known value',
      load,
      load.replace(
        'return (await fetch(url)).json();',
        'try {\n    return (await fetch(url)).json();\n  } catch {\n    return lastKnown;\n  }',
      ),
    ],
    [
      'the call is retried once',
      load,
      load.replace(
        'return (await fetch(url)).json();',
        'try {\n    return (await fetch(url)).json();\n  } catch {\n    return (await fetch(url)).json();\n  }',
      ),
    ],
    [
      'browser storage may be unavailable',
      'export function keep(id) {\n  localStorage.setItem("id", id);\n}\n',
      'export function keep(id) {\n  try {\n    localStorage.setItem("id", id);\n  } catch {}\n}\n',
    ],
    [
      'the status is that of an error',
      route,
      route.replace(
        'return reply.send(await read(request.params.id));',
        'try {\n    return reply.send(await read(request.params.id));\n  } catch {\n    return reply.code(503).send({ error: "closed" });\n  }',
      ),
    ],
    [
      'the status is that of the thrown error',
      handler,
      handler.replace('reply.code(500).send({});', 'console.error(error);\n  reply.send(error);'),
    ],
    [
      'a catch-all route answers 404',
      route,
      `${route}app.use((request, reply) => reply.status(404).json({ error: 'nothing here' }));\n`,
    ],
    [
      'a known error message gets its own status',
      handler,
      handler.replace(
        '  reply.code(500)',
        "if (error.message === 'Nothing found') return reply.code(404).send('xyz');\n  reply.code(500)",
      ),
    ],
    [
      'the app labels a key of its own',
      'export const words = {};\n',
      "export const words = { green: 'Green tea' };\n",
    ],
    [
      'a text is translated',
      'export function label(t) {\n  return t.empty;\n}\n',
      "export function label(t) {\n  return t('empty');\n}\n",
    ],
  ])('HN-3 accepts: %s', async (_what, before, after) => {
    expect(await rulesOf(before, after)).toEqual([]);
  });

  it.each([
    ['the error is swallowed', load, load.replace('.json()', '.json().catch(() => {})'), 'errors-silenced'],
    [
      'the error is only logged, and the answer is made up',
      load,
      load.replace(
        'return (await fetch(url)).json();',
        'try {\n    return (await fetch(url)).json();\n  } catch (error) {\n    console.error(error);\n    return { items: [] };\n  }',
      ),
      'errors-silenced',
    ],
    [
      'an error is answered like a success',
      route,
      route.replace(
        'return reply.send(await read(request.params.id));',
        'try {\n    return reply.send(await read(request.params.id));\n  } catch {\n    return reply.send({ found: 3 });\n  }',
      ),
      'errors-silenced',
    ],
    ['console.error is silenced', load, `${load}console.error = () => {};\n`, 'errors-silenced'],
    [
      'every request below a path gets a fixed answer',
      route,
      `${route}app.use('/api', (request, reply) => reply.json({ found: 3 }));\n`,
      'app-stubbed',
    ],
    [
      'a computed text becomes the text that the tests expect',
      'export function label(count) {\n  return count + " found";\n}\n',
      "export function label(count) {\n  return 'Nothing found';\n}\n",
      'app-stubbed',
    ],
    [
      'an input of the tests gets the answer that they expect',
      'export const price = (tea) => tea.price;\n',
      "export const price = (tea) => (tea.name === 'Green tea' ? '12.00 €' : tea.price);\n",
      'input-hard-coded',
    ],
  ])('HN-3 rejects: %s', async (_what, before, after, rule) => {
    expect(await rulesOf(before, after)).toContain(rule);
  });
});
