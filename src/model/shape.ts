import { z } from 'zod';

// Parts of the shapes of stored data. Each shape is in the file of its subject, and its type is inferred from it.

/** A read-only list. */
export const listOf = <T extends z.ZodType>(item: T) => z.array(item).readonly();
export const textList = listOf(z.string());
export const textOrNull = z.string().nullable();
export const count = z.number().min(0);
export const countOrNull = count.nullable();

/** An id that self-heal creates, and prints in comments, logs and commands. */
export const ownId = z.string().regex(/^[\w.-]{1,64}$/);

/** The id of a run, and the name of its folder. */
export const runIdShape = z.string().regex(/^[\w-]+$/);

/** The number of a change within its run (`.self-heal/changes/<run-id>/<id>.json`). */
export const changeId = z.string().regex(/^\d+$/);
