import path from 'node:path';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import type { RunnerSettings } from '../../model/settings.js';
import { describeProgram } from '../../agents/programs.js';
import { describeError } from '../../problem.js';
import { supervise } from '../../process/supervise.js';
import { tryOr } from '../../result.js';
import { unreachable } from '../../unreachable.js';

interface ProjectContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The login of an agent program, which it needs to call its model. */
export type Login =
  | { readonly state: 'in'; readonly how: string }
  /** `remedy`: the program's own instructions to log in, if it has any. */
  | { readonly state: 'out'; readonly remedy?: string }
  /** Only a paid call could show the state. */
  | { readonly state: 'unknown'; readonly why: string };

/** Finds out whether a program is logged in, without calling its model. Comments below name the tested versions. */
export async function checkLogin(
  runner: Exclude<RunnerSettings, { kind: 'command' }>,
  project: ProjectContext,
): Promise<Login> {
  switch (runner.kind) {
    case 'claude':
      return checkClaude(project);
    case 'codex':
      return checkCodex(project);
    case 'acp':
      return checkByProtocol(runner, project);
    default:
      return unreachable(runner);
  }
}

/** Opens a session without sending a prompt. A program that speaks the Agent Client Protocol refuses the session if it needs a login. */
async function checkByProtocol(
  { program, command: [file = '', ...args] }: Extract<RunnerSettings, { kind: 'acp' }>,
  { cwd, env }: ProjectContext,
): Promise<Login> {
  const { tryLogin } = await import('../../agents/acp-runner.js');
  const session = tryLogin(cwd);
  const running = supervise({
    file,
    args,
    cwd,
    env: { ...env, ...describeProgram(program).env },
    input: session.input,
    timeoutMs: TIMEOUT_MS,
    graceMs: GRACE_MS,
    signal: new AbortController().signal,
    onStart: () => undefined,
    onOutput: (chunk, from) => (from === 'stdout' ? session.write(chunk) : undefined),
  });
  void running.ended.then(() => session.close());
  const login = await session.login.catch(
    (error: unknown) => ({ state: 'unknown', why: describeError(error) }) as const,
  );
  running.stop();
  await running.ended;
  return login;
}

/** 2.1.197: `auth status` prints JSON. Checks the help first, because an older version would treat these words as a prompt. */
async function checkClaude(project: ProjectContext): Promise<Login> {
  const help = await probe(['claude', '--help'], project);
  const status = /^\s+auth\b/m.test(help.output) ? await probe(['claude', 'auth', 'status'], project) : null;
  const loggedIn = /"loggedIn":\s*(true|false)/.exec(status?.output ?? '')?.[1];
  if (loggedIn === 'false') return { state: 'out' };
  const how = /"authMethod":\s*"([\w-]+)"/.exec(status?.output ?? '')?.[1] ?? 'an account';
  return loggedIn === 'true'
    ? { state: 'in', how }
    : { state: 'unknown', why: 'this version does not report its login' };
}

/**
 * 0.169.0: `login status` exits with 1 if not logged in. It ignores CODEX_API_KEY, which `codex exec` accepts, and custom providers.
 * OPENAI_API_KEY is not accepted.
 */
async function checkCodex(project: ProjectContext): Promise<Login> {
  if (hasVariable(project, 'CODEX_API_KEY')) return { state: 'in', how: 'CODEX_API_KEY' };
  const { exitCode, output } = await probe(['codex', 'login', 'status'], project);
  if (exitCode === 0) return { state: 'in', how: /API key/i.test(output) ? 'an API key' : 'an account' };
  const config = readTextOrEmpty(
    path.join(project.env['CODEX_HOME'] ?? path.join(findHome(project), '.codex'), 'config.toml'),
  );
  if (/^\s*model_provider\s*=/m.test(config)) {
    return { state: 'unknown', why: 'its config.toml names a custom provider' };
  }
  return /Not logged in/i.test(output)
    ? { state: 'out' }
    : { state: 'unknown', why: 'this version does not report its login' };
}

function hasVariable({ env }: ProjectContext, name: string): boolean {
  return (env[name] ?? '') !== '';
}

function findHome({ env }: ProjectContext): string {
  return env['HOME'] ?? env['USERPROFILE'] ?? homedir();
}

function readTextOrEmpty(file: string): string {
  return tryOr('', () => readFileSync(file, 'utf8'));
}

/** Slow programs need seconds to start on a busy machine; a program that waits for input never ends. */
const TIMEOUT_MS = 60_000;
const GRACE_MS = 2_000;
/** More output than any of the programs prints; the rest is dropped. */
const MAX_CHARACTERS = 200_000;

/**
 * Runs a program to its end with empty standard input, and ends all of its processes. Returns its output on both streams; the exit code is null if the
 * program had to be ended.
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
