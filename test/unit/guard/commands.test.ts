import { describe, expect, it } from 'vitest';
import { judged } from './judged.js';

describe('HN-3 build steps and tool settings', () => {
  it.each([
    ['Makefile', 'db:\n\tnpx migrate deploy\n', 'db:\n\t-npx migrate deploy\n'],
    ['start.sh', 'npm run migrate\nnode app.js\n', 'npm run migrate || true\nnode app.js\n'],
    ['start.sh', 'set -euo pipefail\n', 'set -uo pipefail\n'],
    ['Dockerfile', 'RUN npm run check\nRUN npm run build\n', 'RUN npm run build\n'],
    ['turbo.json', '{ "dependsOn": ["^build", "check"] }', '{ "dependsOn": ["^build"] }'],
    ['biome.json', '{ "linter": { "enabled": true } }', '{ "linter": { "enabled": false } }'],
    ['biome.json', '{ "rules": { "noVar": "error" } }', '{ "rules": { "noVar": "warn" } }'],
    [
      'eslint.config.js',
      'export default [{ ignores: [] }];\n',
      "export default [{ ignores: ['src/**'] }];\n",
    ],
    ['compose.yaml', "test: ['CMD', 'pg_isready']\n", "test: ['CMD', 'true']\n"],
  ])('HN-3 rejects a %s in which %j becomes %j', async (file, before, after) => {
    const found = await judged([[file, after]], 'build-error', [[file, before]]);
    expect(found.map(({ rule }) => rule)).toEqual(['compiler-loosened']);
  });

  it.each([
    ['Makefile', 'db:\n\tnpx migrate deploy\n', 'db:\n\tnpx wait-on tcp:1\n\tnpx migrate deploy\n'],
    ['start.sh', 'node app.js\n', 'set -e\nnode app.js\n'],
    ['Dockerfile', 'RUN npm ci\n', 'RUN apt-get update\nRUN npm ci\n'],
    ['turbo.json', '{ "dependsOn": ["check"] }', '{ "dependsOn": ["^build", "check"], "env": ["PORT"] }'],
    [
      'eslint.config.js',
      'export default [{ ignores: [] }];\n',
      "export default [{ ignores: ['dist/**'] }];\n",
    ],
  ])('HN-3 accepts a %s in which %j becomes %j', async (file, before, after) => {
    expect(await judged([[file, after]], 'build-error', [[file, before]])).toEqual([]);
  });

  it('HN-3 rejects a new folder in place of a package from the registry', async () => {
    const found = await judged([['package.json', '"^4.0.0"', '"file:./stubs/zod"']], 'build-error');
    expect(found.map(({ rule }) => rule)).toEqual(['app-stubbed']);
  });
});
