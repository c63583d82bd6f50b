// Tests the real coding-agent programs against a stub of their providers: `npm run test:agents [claude codex …]`. They are installed in pinned
// versions outside the package's own dependencies, since each is larger than all of those together.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { bundleSrc } from './bundle-src.mjs';
import { root, setUp, shown } from './setup.mjs';

const cache = process.env.SELF_HEAL_AGENTS_CACHE ?? path.join(homedir(), '.cache', 'self-heal-agents');

const env = await setUp();
const { acpPrograms } = await import(await bundleSrc('model/built-in.ts'));
const packages = {
  claude: '@anthropic-ai/claude-code@2.1.329',
  codex: '@openai/codex@0.169.0',
  gemini: `@google/gemini-cli@${acpPrograms.gemini.tried}`,
  opencode: `opencode-ai@${acpPrograms.opencode.tried}`,
  copilot: `@github/copilot@${acpPrograms.copilot.tried}`,
  // No runner is built in for it.
  'claude-agent-acp': '@agentclientprotocol/claude-agent-acp@0.49.0',
};
const words = process.argv.slice(2);
const named = words.filter((word) => word in packages);
const programs =
  named.length > 0 ? named : ['claude', 'codex', 'gemini', 'opencode', 'copilot', 'claude-agent-acp'];
const folders = Object.fromEntries(programs.map((name) => [name, installed(name)]));
const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
const rest = words.filter((word) => !(word in packages));
const { status } = spawnSync(process.execPath, [vitest, 'run', '--project', 'agents', ...rest], {
  cwd: root,
  stdio: 'inherit',
  env: { ...env, SELF_HEAL_TEST_AGENTS: JSON.stringify(folders) },
});
process.exitCode = status ?? 1;

/** Installs a program unless this exact version is installed; returns the folder of its executable. */
function installed(name) {
  const folder = path.join(cache, packages[name].replaceAll(/[/@]/g, '_'));
  const bin = path.join(folder, 'node_modules', '.bin');
  if (!existsSync(path.join(bin, name))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');
    const quietly = ['--no-audit', '--no-fund', '--loglevel=error'];
    shown('npm', ['install', ...quietly, packages[name]], { cwd: folder, stdio: ['ignore', 2, 2] });
  }
  return bin;
}
