import { describe, expect, it } from 'vitest';
import { places, requestOf } from '../../../fixtures/guard/project.mjs';
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

describe('HN-3 who learns of an error of the app', () => {
  it.each([
    [
      'the visitor is told',
      load,
      load.replace(
        'return (await fetch(url)).json();',
        'try {\n    return (await fetch(url)).json();\n  } catch {\n    show("The shop does not answer");\n  }',
      ),
    ],
    ['there is an empty list', load, load.replace('.json()', '.json().catch(() => [])')],
    [
      'a record names its parts',
      'export function configOf(settings) {\n  return pick(settings);\n}\n',
      'export function configOf({ limits, agents }) {\n  return { limits, agents };\n}\n',
    ],
    ['a linter is told why', load, `// eslint-disable-next-line no-undef -- the browser has it\n${load}`],
    ['there is nothing', load, load.replace('.json()', '.json().catch(() => null)')],
    [
      'what was known before is shown',
      load,
      load.replace(
        'return (await fetch(url)).json();',
        'try {\n    return (await fetch(url)).json();\n  } catch {\n    return lastKnown;\n  }',
      ),
    ],
    [
      'it is tried once more',
      load,
      load.replace(
        'return (await fetch(url)).json();',
        'try {\n    return (await fetch(url)).json();\n  } catch {\n    return (await fetch(url)).json();\n  }',
      ),
    ],
    [
      'a store of the browser may be closed',
      'export function keep(id) {\n  localStorage.setItem("id", id);\n}\n',
      'export function keep(id) {\n  try {\n    localStorage.setItem("id", id);\n  } catch {}\n}\n',
    ],
    [
      'the status tells',
      route,
      route.replace(
        'return reply.send(await read(request.params.id));',
        'try {\n    return reply.send(await read(request.params.id));\n  } catch {\n    return reply.code(503).send({ error: "closed" });\n  }',
      ),
    ],
    [
      'the error says its status',
      handler,
      handler.replace('reply.code(500).send({});', 'console.error(error);\n  reply.send(error);'),
    ],
    [
      'what is not there is 404',
      route,
      `${route}app.use((request, reply) => reply.status(404).json({ error: 'nothing here' }));\n`,
    ],
    [
      'a message of the app has its status',
      handler,
      handler.replace(
        '  reply.code(500)',
        "if (error.message === 'Nothing found') return reply.code(404).send('xyz');\n  reply.code(500)",
      ),
    ],
    [
      'the app has a word for its own word',
      'export const words = {};\n',
      "export const words = { green: 'Green tea' };\n",
    ],
    [
      'a text is translated',
      'export function label(t) {\n  return t.empty;\n}\n',
      "export function label(t) {\n  return t('empty');\n}\n",
    ],
  ])('HN-3 passes: %s', async (_what, before, after) => {
    expect(await rulesOf(before, after)).toEqual([]);
  });

  it.each([
    ['nobody learns of it', load, load.replace('.json()', '.json().catch(() => {})'), 'errors-silenced'],
    [
      'only a log learns of it, and the answer is made up',
      load,
      load.replace(
        'return (await fetch(url)).json();',
        'try {\n    return (await fetch(url)).json();\n  } catch (error) {\n    console.error(error);\n    return { items: [] };\n  }',
      ),
      'errors-silenced',
    ],
    [
      'what is done where all goes well is done',
      route,
      route.replace(
        'return reply.send(await read(request.params.id));',
        'try {\n    return reply.send(await read(request.params.id));\n  } catch {\n    return reply.send({ found: 3 });\n  }',
      ),
      'errors-silenced',
    ],
    ['the console is mute', load, `${load}console.error = () => {};\n`, 'errors-silenced'],
    [
      'everything below a path is answered',
      route,
      `${route}app.use('/api', (request, reply) => reply.json({ found: 3 }));\n`,
      'app-stubbed',
    ],
    [
      'what was reckoned is what the tests expect',
      'export function label(count) {\n  return count + " found";\n}\n',
      "export function label(count) {\n  return 'Nothing found';\n}\n",
      'app-stubbed',
    ],
    [
      'a text of the tests is answered with another one',
      'export const price = (tea) => tea.price;\n',
      "export const price = (tea) => (tea.name === 'Green tea' ? '12.00 €' : tea.price);\n",
      'input-hard-coded',
    ],
  ])('HN-3 rejects: %s', async (_what, before, after, rule) => {
    expect(await rulesOf(before, after)).toContain(rule);
  });
});
