import path from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import type { BuiltInRunner } from '../../model/built-in.js';
import { supervise } from '../../process/supervise.js';
import { tryOr } from '../../result.js';

interface ProjectContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Whether a program has the credentials to call its model. */
type Login =
  | { readonly state: 'in'; readonly how: string }
  | { readonly state: 'out' }
  /** The program offers no way to tell without a paid call. */
  | { readonly state: 'unknown'; readonly why: string };

/** Asks a program whether it is logged in, without calling its model. The versions below are those it was tested with. */
export async function checkLogin(program: BuiltInRunner, project: ProjectContext): Promise<Login> {
  return logins[program](project);
}

const logins: Record<BuiltInRunner, (project: ProjectContext) => Promise<Login>> = {
  claude,
  codex,
  gemini,
  opencode,
  copilot,
};

/** 2.1.197: `auth status` prints JSON. An older version would take the words for a prompt, so its help is read first. */
async function claude(project: ProjectContext): Promise<Login> {
  const help = await probe(['claude', '--help'], project);
  const status = /^\s+auth\b/m.test(help.output) ? await probe(['claude', 'auth', 'status'], project) : null;
  const loggedIn = /"loggedIn":\s*(true|false)/.exec(status?.output ?? '')?.[1];
  if (loggedIn === 'false') return { state: 'out' };
  const how = /"authMethod":\s*"([\w-]+)"/.exec(status?.output ?? '')?.[1] ?? 'an account';
  return loggedIn === 'true' ? { state: 'in', how } : { state: 'unknown', why: 'this version does not say' };
}

/**
 * 0.169.0: `login status` exits with 1 if not logged in. It ignores CODEX_API_KEY, which `codex exec` accepts, and custom providers.
 * OPENAI_API_KEY is not accepted.
 */
async function codex(project: ProjectContext): Promise<Login> {
  if (isSet(project, 'CODEX_API_KEY')) return { state: 'in', how: 'CODEX_API_KEY' };
  const { exitCode, output } = await probe(['codex', 'login', 'status'], project);
  if (exitCode === 0) return { state: 'in', how: /API key/i.test(output) ? 'an API key' : 'an account' };
  const config = readOrEmpty(
    path.join(project.env['CODEX_HOME'] ?? path.join(homeOf(project), '.codex'), 'config.toml'),
  );
  if (/^\s*model_provider\s*=/m.test(config)) {
    return { state: 'unknown', why: 'its config.toml names a custom provider' };
  }
  return /Not logged in/i.test(output)
    ? { state: 'out' }
    : { state: 'unknown', why: 'this version does not say' };
}

/** There is no command for this, so we look for the credentials that it would use. */
async function gemini(project: ProjectContext): Promise<Login> {
  const variable = [
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_GENAI_USE_VERTEXAI',
    'GOOGLE_GENAI_USE_GCA',
  ].find((name) => isSet(project, name));
  if (variable !== undefined) return { state: 'in', how: variable };
  const home = path.join(homeOf(project), '.gemini');
  if (existsSync(path.join(home, 'oauth_creds.json'))) return { state: 'in', how: 'a stored login' };
  const chosen = /"(?:selectedType|selectedAuthType)"/.test(readOrEmpty(path.join(home, 'settings.json')));
  const dotEnv = [home, path.join(project.cwd, '.gemini'), project.cwd].some((folder) =>
    existsSync(path.join(folder, '.env')),
  );
  if (chosen || dotEnv) return { state: 'unknown', why: 'only a model call would show it' };
  return { state: 'out' };
}

/** 1.18.33: `auth list` counts stored logins and variables. Without either, local and free models still work. */
async function opencode(project: ProjectContext): Promise<Login> {
  const { output } = await probe(['opencode', 'auth', 'list'], project);
  const counts = [...output.matchAll(/(\d+) (?:credentials?|environment variables?)/g)].map(([, count]) =>
    Number(count),
  );
  if (counts.some((count) => count > 0)) return { state: 'in', how: 'a stored login or a key' };
  const why = 'neither a login nor a key; only models that need neither will work';
  return { state: 'unknown', why };
}

/** There is no command for this, and the login may be in the system's keychain. */
async function copilot(project: ProjectContext): Promise<Login> {
  const names = ['COPILOT_PROVIDER_BASE_URL', 'COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'];
  const variable = names.find((name) => isSet(project, name));
  if (variable !== undefined) return { state: 'in', how: variable };
  return { state: 'unknown', why: 'only a model call would show it' };
}

function isSet({ env }: ProjectContext, name: string): boolean {
  return (env[name] ?? '') !== '';
}

function homeOf({ env }: ProjectContext): string {
  return env['HOME'] ?? env['USERPROFILE'] ?? homedir();
}

function readOrEmpty(file: string): string {
  return tryOr('', () => readFileSync(file, 'utf8'));
}

/** Slow programs need seconds to start on a busy machine; a program that waits for input never ends. */
const TIMEOUT_MS = 60_000;
const GRACE_MS = 2_000;
/** More than any of the programs prints; the rest is dropped. */
const MAX_CHARACTERS = 200_000;

/**
 * Runs a program to its end with empty standard input, and leaves none of its processes behind. Returns its output on both streams; the exit code
 * is null if it did not exit by itself.
 */
async function probe(
  argv: readonly string[],
  { cwd, env }: ProjectContext,
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const [file = '', ...args] = argv;
  let output = '';
  const decoder = new TextDecoder();
  const { end } = await supervise({
    file,
    args,
    cwd,
    env,
    input: '',
    timeoutMs: TIMEOUT_MS,
    graceMs: GRACE_MS,
    signal: new AbortController().signal,
    onStart: () => undefined,
    onOutput: (chunk) => {
      if (output.length < MAX_CHARACTERS) output += decoder.decode(chunk, { stream: true });
    },
  }).ended;
  return { exitCode: end.kind === 'exited' ? end.exitCode : null, output };
}
