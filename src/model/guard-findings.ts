import { z } from 'zod';
import { textOrNull } from './shape.js';

/** A line of an accepted change that a person should check: it may be wrong, but nothing proves it. */
export const noteShape = z.object({
  /** Relative to the workspace root, with `/`. */
  file: z.string(),
  /** Counted from 1, in the changed file, or in the old file if lines were removed; null if it does not belong to a line. */
  line: z.number().nullable(),
  /** A sentence without its period, for the agent and the report. */
  says: z.string(),
});
export type Note = z.infer<typeof noteShape>;

/** A part of a change that is dishonest, or that only a person may accept. */
export const findingShape = noteShape.extend({
  /** Kebab-case name of the rule: `app-detects-tests`, `compiler-loosened` … */
  rule: z.string(),
});
export type Finding = z.infer<typeof findingShape>;

/** A dishonest part of an agent's change (HN-3). */
export const violationShape = findingShape.extend({
  /** The source line before the change, or null if it was added. */
  before: textOrNull,
  /** The source line after the change, or null if it was removed. */
  after: textOrNull,
});
export type Violation = z.infer<typeof violationShape>;

/** Formats a violation as one line: position, rule and text. */
export function formatViolation({ file, line, rule, says }: Finding): string {
  return `${file}${line === null ? '' : `:${line}`} ${rule}: ${says}`;
}

/** A file that was removed from an agent's change because it belongs to the tests or is protected. The rest of the change is tried. */
export const cutShape = z.object({
  /** Relative to the workspace root, with `/`. */
  file: z.string(),
  /** Why it was removed, as a sentence without its period. */
  why: z.string(),
});
export type Cut = z.infer<typeof cutShape>;

/** Formats a removed file as one line: its path and the reason. */
export function formatCut({ file, why }: Cut): string {
  return `${file}: ${why}`;
}

/** The files that are removed from an agent's change for every class of failure, in words for prompts. */
export const protectedNames =
  'the Playwright config, snapshots, everything but dependencies in package.json, lock files without a change to their manifest, values of .env files that have no sample, agents.yaml, .self-heal/, and what CI, installs, git, shells, editors or agents execute';

/** Formats a note as one line: its position and its text. */
export function formatNote({ file, line, says }: Note): string {
  return `${file}${line === null ? '' : `:${line}`} ${says}`;
}
