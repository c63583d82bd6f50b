import path from 'node:path';
import type { PermissionOption, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { isInside, resolveLinks, resolveFuturePath } from '../paths.js';

/** What an agent may do: read and write in its copy, which also contains the evidence, and run the commands that agents.yaml allows. */
export interface AccessPolicy {
  /** The root of the copy. */
  readonly root: string;
  /** The folder that relative paths start from. */
  readonly cwd: string;
  /** The commands that it may run. */
  readonly allow: readonly string[];
}

/** An agent's request for permission. Without a `kind`, the policy judges it by the files or the command that it names. */
export type ToolCall = Pick<ToolCallUpdate, 'title' | 'kind' | 'locations' | 'content' | 'rawInput'>;

/** Returns why a call is refused, or null if it is allowed. */
export function explainRefusal(call: ToolCall, policy: AccessPolicy): string | null {
  const kind = call.kind ?? 'other';
  const command = readCommand(call);
  if (kind === 'execute' || (kind === 'other' && command !== null)) {
    const isAllowed = command !== null && policy.allow.some((allowed) => isAllowedCommand(allowed, command));
    return isAllowed ? null : 'agents.yaml does not allow the command';
  }
  const files = listCallFiles(call);
  const outside = files.find((file) => resolveInCopy(file, policy) === null);
  if (outside !== undefined) return `${outside} is outside of its copy`;
  if (kind === 'read' || kind === 'search' || kind === 'think') return null;
  if (kind === 'fetch' || kind === 'switch_mode') return 'it may only work in its copy';
  return files.length > 0 ? null : 'it does not name a file';
}

const editKinds: readonly (ToolKind | null | undefined)[] = ['edit', 'delete', 'move'];

/** True if a call changes files. Only a refused edit keeps an agent from its work (AG-8). */
export function isEditCall(call: ToolCall): boolean {
  return editKinds.includes(call.kind) || (call.content ?? []).some(({ type }) => type === 'diff');
}

/** True if a command line is an allowed one, perhaps with more arguments. No added argument may have a special meaning for the shell. */
function isAllowedCommand(allowed: string, command: string): boolean {
  if (command === allowed) return true;
  return command.startsWith(`${allowed} `) && !/[;&|<>`$(){}\\\r\n]/.test(command.slice(allowed.length));
}

const commandLine = z.union([z.string(), z.array(z.string()).transform((argv) => argv.join(' '))]);
const inputShape = z.object({ command: commandLine.optional(), cmd: commandLine.optional() });

function readCommand({ rawInput }: ToolCall): string | null {
  const { command, cmd } = inputShape.safeParse(rawInput).data ?? {};
  return command ?? cmd ?? null;
}

const fileKey =
  /^(?:abs(?:olute)?_?)?(?:file_?)?path$|^file_?(?:name)?$|^(?:target|notebook)_?(?:file|path)$/i;

/** Returns the files that a call names, as it writes them. */
export function listCallFiles({ locations, content, rawInput }: ToolCall): string[] {
  const named = Object.entries(Object(rawInput) as Record<string, unknown>).flatMap(([key, value]) =>
    fileKey.test(key) && typeof value === 'string' ? [value] : [],
  );
  const changed = (content ?? []).flatMap((part) => (part.type === 'diff' ? [part.path] : []));
  return [...new Set([...(locations ?? []).map((location) => location.path), ...changed, ...named])];
}

/** Returns the path of a file in the copy, with links resolved; null if it is outside. Rejects `..`, which could lead out through a link. */
export function resolveInCopy(
  file: string,
  { root, cwd }: Pick<AccessPolicy, 'root' | 'cwd'>,
): string | null {
  if (file === '' || file.includes('\0') || file.split(/[\\/]/).includes('..')) return null;
  const resolved = resolveFuturePath(path.resolve(cwd, file));
  return isInside(resolveLinks(root), resolved) ? resolved : null;
}

/** Chooses the option that applies to this call only, so that the program asks again before the next one. */
export function chooseOption(
  isAllowed: boolean,
  options: readonly PermissionOption[],
): PermissionOption | null {
  const kinds = isAllowed ? (['allow_once'] as const) : (['reject_once', 'reject_always'] as const);
  return kinds.flatMap((kind) => options.find((option) => option.kind === kind) ?? [])[0] ?? null;
}
