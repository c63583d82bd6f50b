import { z } from 'zod';
import {
  durationExamples,
  durationMistake,
  durationPattern,
  MAX_DURATION_MS,
  parseDuration,
} from './duration.js';

// Each message is the end of a sentence that begins with the key's name. It never repeats the value, which may be a secret from
// ${VAR} (EV-9); the marked line shows what was written.

/** The placeholders that a runner's command may contain in `{…}`. */
const placeholders: readonly unknown[] = ['slashCommand', 'contextFile', 'promptFile', 'screenshot'];

/** All placeholders, as written in a command. */
export const placeholdersInText = placeholders.map((one) => `{${String(one)}}`).join(' ');

/** The name of an agent or a runner. */
export const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    'may contain only letters, digits, ".", "_" and "-", and must begin with a letter or digit',
  );

/** Any text that is not blank. */
export const text = z.string('must be a string; put it in quotes').regex(/\S/, 'must not be empty');

/** A duration in text, parsed to milliseconds. */
export function duration(least: 'zero or more' | 'more than zero') {
  return z
    .string({ error: ({ input }) => durationMistake(input) })
    .regex(durationPattern, { error: ({ input }) => durationMistake(input), abort: true })
    .meta({ examples: [...durationExamples] })
    .transform((value) => parseDuration(value) ?? 0)
    .refine((ms) => ms > 0 || least === 'zero or more', 'must be more than zero')
    .refine((ms) => ms <= MAX_DURATION_MS, 'must be at most 24 days (576h)');
}

/** A whole number of at least 0. */
export const wholeNumber = z
  .int({ error: ({ input }) => `must be a whole number${butNotText(input)}` })
  .min(0, 'must not be negative');

/** A number of at least 0 or 1, possibly with a fraction. */
export function amount(least: 0 | 1) {
  return z
    .number({ error: ({ input }) => `must be a number${butNotText(input)}` })
    .min(least, least === 0 ? 'must not be negative' : 'must be at least 1');
}

function butNotText(input: unknown): string {
  return typeof input === 'string' ? ', not text' : '';
}

/** One word of a command line, which may contain placeholders. `${NAME}` is left to the shell, if a shell reads the word. */
export const argument = z
  .string('must be a string; put it in quotes')
  .refine(
    (value) =>
      [...value.matchAll(/(?<!\$)\{([A-Za-z]+)\}/g)].every(([, word]) => placeholders.includes(word)),
    `contains an unknown placeholder; the known ones are ${placeholdersInText}`,
  );

/** A file, or the URL of a PostgreSQL database; any other URL would be taken for a file's name. */
export const storePlace = text.refine(
  (place) => !/^[a-z][a-z\d+.-]*:\/\//i.test(place) || /^postgres(?:ql)?:/i.test(place),
  'must be a file or a postgres:// URL',
);

/** The source of a JavaScript regular expression. */
export const pattern = text
  .refine(compiles, 'is not a valid regular expression; put it in single quotes to keep each \\')
  .meta({
    examples: ['upstream connect error', '^\\[billing\\] .* failed$'],
  });

function compiles(source: string): boolean {
  try {
    return new RegExp(source, 'm') instanceof RegExp;
  } catch {
    return false;
  }
}

/** One of these texts. */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`);

/** Makes a setting optional; editors see the default. */
export function byDefault<T extends z.ZodType>(value: z.input<T>, field: T, description: string) {
  return field.prefault(value).describe(`${description} Default: ${String(value)}.`);
}

/** An optional mapping of settings that are optional themselves. */
export function section<T extends z.ZodRawShape>(shape: T, description: string) {
  return z
    .strictObject(shape)
    .prefault({} as never)
    .describe(description);
}
