import path from 'node:path';
import type { PermissionOption, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { isInside, real, realPlaceOf } from '../paths.js';

/** What an agent may do: read and write in its copy, which holds the evidence too, and run what agents.yaml allows. */
export interface Policy {
  /** The root of the copy. */
  readonly root: string;
  /** Where relative paths begin. */
  readonly cwd: string;
  /** The commands that it may run. */
  readonly allow: readonly string[];
}

/** What an agent asks for. A call without a kind is judged by what it names. */
export type ToolCall = Pick<ToolCallUpdate, 'title' | 'kind' | 'locations' | 'content' | 'rawInput'>;

/** Returns why a call is refused, or null if it is allowed. */
export function refusalOf(call: ToolCall, policy: Policy): string | null {
  const kind = call.kind ?? 'other';
  const command = commandOf(call);
  if (kind === 'execute' || (kind === 'other' && command !== null)) {
    const isAllowed = command !== null && policy.allow.some((allowed) => isRunOf(allowed, command));
    return isAllowed ? null : 'agents.yaml does not allow the command';
  }
  const files = filesOf(call);
  const outside = files.find((file) => placeInCopy(file, policy) === null);
  if (outside !== undefined) return `${outside} is outside of its copy`;
  if (kind === 'read' || kind === 'search' || kind === 'think') return null;
  if (kind === 'fetch' || kind === 'switch_mode') return 'it works in its copy alone';
  return files.length > 0 ? null : 'it does not say which file';
}

const edits: readonly (ToolKind | null | undefined)[] = ['edit', 'delete', 'move'];

/** Whether a call changes files. Only a refused edit keeps an agent from its work (AG-8). */
export function isEditCall(call: ToolCall): boolean {
  return edits.includes(call.kind) || (call.content ?? []).some(({ type }) => type === 'diff');
}

/** Whether a command line is an allowed one, or one with further arguments. What a shell would take for more than an argument is no argument. */
function isRunOf(allowed: string, command: string): boolean {
  if (command === allowed) return true;
  return command.startsWith(`${allowed} `) && !/[;&|<>`$(){}\\\r\n]/.test(command.slice(allowed.length));
}

const words = z.union([z.string(), z.array(z.string()).transform((argv) => argv.join(' '))]);
const inputShape = z.object({ command: words.optional(), cmd: words.optional() });

function commandOf({ rawInput }: ToolCall): string | null {
  const { command, cmd } = inputShape.safeParse(rawInput).data ?? {};
  return command ?? cmd ?? null;
}

const fileKey =
  /^(?:abs(?:olute)?_?)?(?:file_?)?path$|^file_?(?:name)?$|^(?:target|notebook)_?(?:file|path)$/i;

/** Returns the files that a call names, as it writes them. */
export function filesOf({ locations, content, rawInput }: ToolCall): string[] {
  const named = Object.entries(Object(rawInput) as Record<string, unknown>).flatMap(([key, value]) =>
    fileKey.test(key) && typeof value === 'string' ? [value] : [],
  );
  const changed = (content ?? []).flatMap((part) => (part.type === 'diff' ? [part.path] : []));
  return [...new Set([...(locations ?? []).map((location) => location.path), ...changed, ...named])];
}

/** Returns where a file of the copy is, with links resolved, or null if it is outside. A way up may lead through a link, so none is taken. */
export function placeInCopy(file: string, { root, cwd }: Pick<Policy, 'root' | 'cwd'>): string | null {
  if (file === '' || file.includes('\0') || file.split(/[\\/]/).includes('..')) return null;
  const place = realPlaceOf(path.resolve(cwd, file));
  return isInside(real(root), place) ? place : null;
}

/** Returns the option to choose: one for this call alone, so that each further call is asked about too. */
export function optionFor(isAllowed: boolean, options: readonly PermissionOption[]): PermissionOption | null {
  const kinds = isAllowed ? (['allow_once'] as const) : (['reject_once', 'reject_always'] as const);
  return kinds.flatMap((kind) => options.find((option) => option.kind === kind) ?? [])[0] ?? null;
}
