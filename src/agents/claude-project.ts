import { readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import { z } from 'zod';
import { tryOr } from '../result.js';

/** A copy of a project in which Claude Code works. */
export interface ClaudeCopy {
  /** Claude Code's working directory in the copy. */
  readonly cwd: string;
  /** The same folder in the user's own tree. */
  readonly project: string;
  /** The root of the copy. Files next to it are not part of the project. */
  readonly root: string;
}

const ruleList = z.array(z.string());
const settingsShape = z.object({ permissions: z.object({ allow: ruleList }) });
const homeShape = z.object({
  projects: z.record(
    z.string(),
    z.object({
      allowedTools: ruleList.default([]),
      mcpServers: z.record(z.string(), z.unknown()).default({}),
    }),
  ),
});

/**
 * Returns flags for the settings that Claude Code respects in a project but not in a copy of it. It ignores `permissions.allow` in a folder that
 * nobody has trusted in its dialog (self-heal runs the project's code, so the project is trusted), and it stores a user's tools and MCP servers for
 * one project in ~/.claude.json, by the project's path. The project's hooks, variables and `.mcp.json` work without a terminal
 * anyway (measured with 2.1.329).
 */
export function createClaudeFlags(copy: ClaudeCopy, env: NodeJS.ProcessEnv): string[] {
  const { cwd, project, root } = copy;
  const files = ['settings.json', 'settings.local.json'].map((name) => path.join(cwd, '.claude', name));
  const home = path.join(env['CLAUDE_CONFIG_DIR'] ?? env['HOME'] ?? homedir(), '.claude.json');
  const { allowedTools = [], mcpServers = {} } = readJson(home, homeShape)?.projects[project] ?? {};
  const allow = files.flatMap((file) => readJson(file, settingsShape)?.permissions.allow ?? []);
  const permissions = { allow: [...new Set([...allow, ...allowedTools])] };
  const mcpFile = path.join(path.dirname(root), 'claude-mcp.json');
  // Writes the servers to a file, because they may contain keys, and every user of the machine can see arguments.
  const hasServers = Object.keys(mcpServers).length > 0;
  if (hasServers) writeFileSync(mcpFile, serializeForCopy({ mcpServers }, copy), { mode: 0o600 });
  return [
    ...(permissions.allow.length > 0 ? ['--settings', serializeForCopy({ permissions }, copy)] : []),
    ...(hasServers ? ['--mcp-config', mcpFile] : []),
  ];
}

/**
 * Serializes a value with the copy's paths in place of the project's, so that no server and no rule affects the project itself. Does not replace the
 * path of a neighboring folder whose name begins with the project's name.
 */
function serializeForCopy(value: unknown, { cwd, project }: ClaudeCopy): string {
  const escapeForJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const projectPath = new RegExp(
    String.raw`${escapeStringRegexp(escapeForJson(project))}(?![\p{L}\p{N}_-]|\.\w)`,
    'gu',
  );
  return JSON.stringify(value).replaceAll(projectPath, () => escapeForJson(cwd));
}

/** Returns null if the file is missing or has a different shape. Claude Code itself reports mistakes in it. */
function readJson<T>(file: string, shape: z.ZodType<T>): T | null {
  return tryOr(null, () => shape.parse(JSON.parse(readFileSync(file, 'utf8'))));
}
