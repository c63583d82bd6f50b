import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { configJson, configYaml } from '../../../src/config/config-text.js';
import { effectiveSettings } from '../../../src/config/effective-settings.js';
import { loadLayers, settingsOf } from '../../../src/config/load-settings.js';
import { parseAgentsFile } from '../../../src/config/parse-agents-file.js';
import { resolveSettings } from '../../../src/config/resolve-settings.js';

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), 'self-heal-config-'));
});

afterEach(async () => {
  await rm(cwd, { recursive: true, force: true });
});

async function effective(env: Record<string, string> = {}, text?: string) {
  if (text !== undefined) await writeFile(path.join(cwd, 'agents.yaml'), text);
  const layers = await loadLayers({ cwd, env, packageName: 'shop' });
  if (!layers.ok) throw new Error(layers.error.detail ?? layers.error.message);
  const values = effectiveSettings(layers.value);
  return { values, yaml: configYaml(values), settings: settingsOf(layers.value) };
}

const rich = `
project: "größe: a # b"
runner: own
runners:
  own: { command: [node, 'tools/my fixer.mjs', '{slashCommand}'], prompt: argument }
  other: { command: [sh, -c, "echo 'x'\\nexit"] }
agents:
  debugger: { timeout: 1h30m }
  extra: { slashCommand: "/extra: now", runner: other }
routes: { unknown: [], ui-error: [extra, code-review] }
retries: { backoff: { initial: 500ms } }
verify: { prepare: "npm run build && echo \\"#\\"" }
`;

const more = `
runners: { claude: { args: [--model, sonnet], env: [AWS_PROFILE] }, codex: {} }
classify:
  rules: [{ id: gateway, class: network-error, pattern: '^\\[billing\\] "x"', retry: env_error }]
  ignore: [heartbeat]
  off: [network/own-request-4xx]
`;

it.each([
  ['no file', undefined, {}],
  ['a file', rich, {}],
  ['a file with additions to what is built in', more, {}],
  [
    'a file and the environment',
    rich,
    { SELF_HEAL_RUNNER: 'other', SELF_HEAL_LIMITS_TIME: '7m', SELF_HEAL_PROJECT: '5' },
  ],
])('CF-4 the settings printed for %s are an agents.yaml with the same meaning', async (_, text, env) => {
  const { yaml, settings } = await effective(env, text);
  const parsed = parseAgentsFile(yaml, {});
  if (!parsed.ok) throw new Error(`${JSON.stringify(parsed.error)}\n${yaml}`);
  const again = resolveSettings({ file: parsed.value, project: 'elsewhere', filePath: settings.file });
  // The printed file names every runner.
  expect(again).toEqual({ ...settings, runnerByDefault: [] });
});

it('CF-4 says where each value comes from', async () => {
  const { yaml } = await effective({ SELF_HEAL_RETRIES_MAX: '1' }, rich);
  expect(yaml).toMatch(/^ {2}max: 1 +# environment SELF_HEAL_RETRIES_MAX$/m);
  expect(yaml).toMatch(/^ {4}initial: 500ms +# agents\.yaml:11$/m);
  expect(yaml).toMatch(/^ {4}factor: 2 +# default$/m);
  expect(yaml).toMatch(
    /^ {2}database:\n {4}slashCommand: \/database +# default\n {4}runner: own +# default: as runner$/m,
  );
  expect(yaml).toMatch(/^ {2}unknown: \[\] +# agents\.yaml:10$/m);
  expect((await effective({}, '')).yaml).toMatch(/^ {2}# prepare: not set +# default$/m);
});

it('CF-4 prints values from ${VAR} as ${VAR}, and no passwords of URLs', async () => {
  const text = 'project: "${NAME}"\nverify: { prepare: "echo ${TOKEN} $${x}" }\n';
  const { yaml, values } = await effective({ NAME: 'secret-1', TOKEN: 'secret-2' }, text);
  expect(`${yaml}${JSON.stringify(configJson(values))}`).not.toMatch(/secret-/);
  expect(yaml).toContain('prepare: "echo ${TOKEN} $${x}" ');
  const { yaml: masked } = await effective({ SELF_HEAL_VERIFY_PREPARE: 'ping postgres://me:pass@db/x' }, '');
  expect(masked).toContain('ping postgres://me:***@db/x');
  const at = 'store: postgres://me:p@ss@db/x\nrunners: { claude: { args: [http://me:p@ss@host] } }\n';
  expect((await effective({}, at)).yaml).not.toContain('ss@');
});

it('CF-4 the JSON has the same values and their origins', async () => {
  const { values } = await effective({ SELF_HEAL_LIMITS_COST_USD: '2' }, rich);
  const json = configJson(values) as Record<string, unknown>;
  expect(json).toMatchObject({
    config: { limits: { costUsd: 2 }, verify: { confirm: 1 }, routes: { unknown: [] } },
  });
  expect(json['origins']).toEqual(
    expect.arrayContaining([
      { path: ['limits', 'costUsd'], from: 'environment', variable: 'SELF_HEAL_LIMITS_COST_USD' },
      { path: ['agents', 'extra', 'runner'], from: 'file', file: 'agents.yaml', line: 9 },
    ]),
  );
});
