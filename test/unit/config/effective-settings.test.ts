import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { effectiveSettings, settingsTable } from '../../../src/config/effective-settings.js';
import { loadLayers, resolveSettings, settingsOf } from '../../../src/config/load-settings.js';
import { tempDir } from '../../rig/temp-dir.js';

async function effective(text?: string, env: Record<string, string> = {}) {
  const cwd = tempDir('effective');
  if (text !== undefined) writeFileSync(path.join(cwd, 'agents.yaml'), text);
  const layers = await loadLayers({ cwd, env, packageName: 'shop' });
  if (!layers.ok) throw new Error(layers.error.detail ?? layers.error.message);
  return { values: effectiveSettings(layers.value), settings: settingsOf(layers.value) };
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
  ['a file and the environment', rich, { SELF_HEAL_RUNNER: 'other', SELF_HEAL_COST_USD: '7' }],
])('CF-4 the settings shown for %s are an agents.yaml with the same meaning', async (_, text, env) => {
  const { values, settings } = await effective(text, env);
  const shown: Record<string, unknown> = {};
  for (const { path: keys, value } of values) {
    let node = shown;
    for (const key of keys.slice(0, -1)) node = (node[key] ??= {}) as Record<string, unknown>;
    // What has its default does not belong into the entry of a built-in runner.
    const isForeign =
      keys[0] === 'runners' && ['claude', 'codex'].includes(keys[1] ?? '') && keys[2] === 'prompt';
    if (!isForeign) node[keys.at(-1) ?? ''] = value;
  }
  const again = resolveSettings({ file: shown, project: 'elsewhere', filePath: settings.file });
  // What is shown names every runner.
  expect(again).toEqual({ ...settings, runnerByDefault: [] });
});

it('CF-4 says where each value comes from', async () => {
  const { values } = await effective(rich, { SELF_HEAL_COST_USD: '1' });
  const table = settingsTable(values);
  expect(table).toMatch(/^limits\.costUsd +1 +SELF_HEAL_COST_USD$/m);
  expect(table).toMatch(/^retries\.backoff\.initial +"500ms" +agents\.yaml:11$/m);
  expect(table).toMatch(/^retries\.backoff\.factor +2 +default$/m);
  expect(table).toMatch(/^agents\.database\.runner +"own" +default$/m);
  expect(table).toMatch(/^agents\.extra\.runner +"other" +agents\.yaml:9$/m);
  expect(table).toMatch(/^routes\.unknown +\[\] +agents\.yaml:10$/m);
});

it('CF-4 shows values from ${VAR} as ${VAR}, and no passwords of URLs', async () => {
  const text = 'project: "${NAME}"\nverify: { prepare: "echo ${TOKEN} $${x}" }\n';
  const { values } = await effective(text, { NAME: 'secret-1', TOKEN: 'secret-2' });
  expect(settingsTable(values)).not.toMatch(/secret-/);
  expect(values).toContainEqual(expect.objectContaining({ value: 'echo ${TOKEN} $${x}' }));
  const masked = await effective('', { SELF_HEAL_STORE: 'postgres://me:pass@db/x' });
  expect(masked.values).toContainEqual({
    path: ['store'],
    value: 'postgres://me:***@db/x',
    origin: 'SELF_HEAL_STORE',
  });
  const at = 'store: postgres://me:p@ss@db/x\nrunners: { claude: { args: [http://me:p@ss@host] } }\n';
  expect(settingsTable((await effective(at)).values)).not.toContain('ss@');
});
