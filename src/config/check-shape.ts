import type { z } from 'zod';
import { closest } from './closest.js';
import { allowedKeys } from './json-schema.js';
import { hint, type Mistake } from './mistake.js';
import { valueAt } from './tree.js';

type Issue = z.core.$ZodIssue;

/** Describes in words what the schema found wrong with a file. */
export function describeIssues(issues: readonly Issue[], data: unknown): Mistake[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(issue.path, key));
    return [describeIssue(issue, valueAt(data, issue.path))];
  });
}

function unknownKey(path: readonly PropertyKey[], key: string): Mistake {
  const allowed = allowedKeys(path);
  const what = path.length === 1 && path[0] === 'routes' ? 'class' : 'key';
  const message = `unknown ${what} "${key}"${hint(closest(key, allowed), allowed, 'allowed here:')}`;
  return { path: [...path, key], part: 'key', message };
}

function describeIssue(issue: Issue, value: unknown): Mistake {
  const { path } = issue;
  const named = nameOf(path);
  const part = issue.code === 'invalid_key' ? 'key' : 'value';
  if (path.length > 0 && value === undefined) {
    return { path, part, absent: true, message: `${nameOf(path.slice(0, -1))} needs a ${named}` };
  }
  if (path.length > 0 && value === null) {
    return { path, part, absent: true, message: `${named} is empty; give it a value, or delete the line` };
  }
  return { path, part, message: `${named} ${complaint(issue, value)}` };
}

function complaint(issue: Issue, value: unknown): string {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  if (issue.code === 'invalid_type' && (issue.expected === 'object' || issue.expected === 'record')) {
    return 'must be a mapping of keys to values';
  }
  if (issue.code === 'invalid_value') return issue.message + hint(nearest(issue.values, value), [], '');
  return issue.message;
}

function nearest(values: readonly unknown[], value: unknown): string | null {
  return typeof value === 'string' ? closest(value, values.map(String)) : null;
}

/** Names a value for messages: by its key, or as an entry of the list that contains it. */
function nameOf(path: readonly PropertyKey[]): string {
  const last = path.at(-1);
  if (last === undefined) return 'the file';
  return typeof last === 'number' ? `an entry of "${String(path.at(-2))}"` : `"${String(last)}"`;
}
