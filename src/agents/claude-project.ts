import { readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import { z } from 'zod';

/** A copy of a project, as Claude Code sees it. */
export interface CopiedProject {
  /** Claude Code's working directory in the copy. */
  readonly cwd: string;
  /** The same folder in the user's own tree. */
  readonly project: string;
  /** The root of the copy; what lies next to it is not part of the project. */
  readonly root: string;
}

const rules = z.array(z.string());
const settingsShape = z.object({ permissions: z.object({ allow: rules }) });
const homeShape = z.object({
  projects: z.record(
    z.string(),
    z.object({
      allowedTools: rules.default([]),
      mcpServers: z.record(z.string(), z.unknown()).default({}),
    }),
  ),
});

/**
 * Returns flags for what Claude Code would respect in the project but not in a copy of it. It ignores `permissions.allow` in a folder that
 * nobody trusted in its dialog (a project whose tests self-heal runs is trusted), and it stores the tools and MCP servers that a user added for
 * only this project in ~/.claude.json, by the project's path. The project's hooks, variables and `.mcp.json` work without a terminal anyway
 * (measured with 2.1.329).
 */
export function claudeFlagsFor(copied: CopiedProject, env: NodeJS.ProcessEnv): string[] {
  const { cwd, project, root } = copied;
  const files = ['settings.json', 'settings.local.json'].map((name) => path.join(cwd, '.claude', name));
  const home = path.join(env['CLAUDE_CONFIG_DIR'] ?? env['HOME'] ?? homedir(), '.claude.json');
  const own = read(home, homeShape)?.projects[project];
  const allow = files.flatMap((file) => read(file, settingsShape)?.permissions.allow ?? []);
  const permissions = { allow: [...new Set([...allow, ...(own?.allowedTools ?? [])])] };
  const { mcpServers = {} } = own ?? {};
  const mcpFile = path.join(path.dirname(root), 'claude-mcp.json');
  // In a file, because they may contain keys, and any user of the machine can see arguments.
  const hasServers = Object.keys(mcpServers).length > 0;
  if (hasServers) writeFileSync(mcpFile, inCopy({ mcpServers }, copied), { mode: 0o600 });
  return [
    ...(permissions.allow.length > 0 ? ['--settings', inCopy({ permissions }, copied)] : []),
    ...(hasServers ? ['--mcp-config', mcpFile] : []),
  ];
}

/**
 * Serializes a value with the project's paths replaced by the copy's, so that no server and no rule reaches the project itself. A folder
 * beside it may have a name that begins with the project's.
 */
function inCopy(value: unknown, { cwd, project }: CopiedProject): string {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const place = new RegExp(String.raw`${escapeStringRegexp(inJson(project))}(?![\p{L}\p{N}_-]|\.\w)`, 'gu');
  return JSON.stringify(value).replaceAll(place, () => inJson(cwd));
}

/** Returns null if the file is missing or has another shape; Claude Code itself reports what is wrong with it. */
function read<T>(file: string, shape: z.ZodType<T>): T | null {
  try {
    return shape.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}
