import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { parseJson } from '../parse-json.js';
import { rememberedFixShape, type RememberedFix, type Store } from './store.js';
import type { Database, StoreContext } from './tables.js';

/** The maximum numbers of fixes and of refused fixes per signature. */
const MAX_FIXES = 3;
const MAX_REFUSED_FIXES = 20;

/** The maximum size in bytes of the files of a fix, before and after it together. */
const MAX_BYTES = 200_000;

/** Starts a query that refuses fixes of a project, and deletes their contents. Callers add conditions. */
export function refuseFixes(
  db: Database,
  { project, why = 'did-not-hold' }: { readonly project: string; readonly why?: 'undone' | 'did-not-hold' },
) {
  return db.updateTable('fixes').set({ refused: why, edits: '[]' }).where('project', '=', project);
}

/** The part of the store that remembers green fixes. */
export function createFixTable({ db, project, now }: StoreContext): FixTable {
  return {
    rememberFix: async ({ signatures, replaces, ...fix }) => {
      const edits = JSON.stringify(fix.edits);
      const files = fix.edits.flatMap(({ before, after }) => [before, after]);
      if (files.reduce((sum, file) => sum + (file?.bytes.length ?? 0) * 0.75, 0) > MAX_BYTES) return null;
      const { runId, causeId, agent, proven } = fix;
      const row = {
        project,
        id: createFixId(edits),
        runId,
        causeId,
        agent,
        proven,
        savedAt: now(),
        reading: fix.reading && JSON.stringify(fix.reading),
        edits,
      };
      await db.transaction().execute(async (transaction) => {
        for (const signature of signatures) {
          await transaction
            .insertInto('fixes')
            .values({ ...row, signature, refused: null })
            .onConflict((conflict) => {
              const duplicate = conflict.columns(['signature', 'id']);
              // A proof outweighs an earlier failure of the fix, but not a person's undo.
              return proven === 'proven'
                ? duplicate
                    .doUpdateSet({ ...row, refused: null })
                    .where(sql<boolean>`coalesce(fixes.refused, '') <> 'undone'`)
                : duplicate.doNothing();
            })
            .execute();
          if (proven === 'proven' && replaces !== null && replaces !== row.id)
            await transaction
              .deleteFrom('fixes')
              .where('signature', '=', signature)
              .where('id', '=', replaces)
              .execute();
          await deleteOldFixes(transaction, signature);
        }
      });
      return row.id;
    },
    listRememberedFixes: async (signature) => {
      const rows = await db
        .selectFrom('fixes')
        .selectAll()
        .where('signature', '=', signature)
        .where('project', '=', project)
        .where('refused', 'is', null)
        .orderBy('savedAt', 'desc')
        .limit(MAX_FIXES)
        .execute();
      // A shared store is untrusted, so skip what self-heal would not have stored.
      return rows.flatMap((row): RememberedFix[] => {
        const fix = rememberedFixShape.safeParse({
          ...row,
          reading: row.reading && parseJson(row.reading),
          edits: parseJson(row.edits),
        });
        const isGenuine = row.edits.length <= 2 * MAX_BYTES && row.id === createFixId(row.edits);
        return fix.success && isGenuine ? [fix.data] : [];
      });
    },
    refuseFix: async (id, signatures) => {
      if (signatures.length === 0) return;
      await refuseFixes(db, { project }).where('id', '=', id).where('signature', 'in', signatures).execute();
    },
    refuseFixesInRun: async ({ runId, causeId }, why) => {
      const query = refuseFixes(db, { project, why }).where('runId', '=', runId);
      await (causeId === undefined ? query : query.where('causeId', '=', causeId)).execute();
    },
  };
}

type FixTable = Pick<Store, 'rememberFix' | 'listRememberedFixes' | 'refuseFix'> & {
  /** Refuses the kept fixes of a run, or of one of its causes. */
  readonly refuseFixesInRun: (
    target: { readonly runId: string; readonly causeId?: string },
    why: 'undone' | 'did-not-hold',
  ) => Promise<void>;
};

/** Two runs with the same fix of the same files write the same row. */
function createFixId(edits: string): string {
  return createHash('sha256').update(edits).digest('hex').slice(0, 32);
}

/** Deletes all but the newest fixes and refused fixes of a signature. */
async function deleteOldFixes(db: Database, signature: string): Promise<void> {
  for (const [operator, max] of [
    ['is', MAX_FIXES],
    ['is not', MAX_REFUSED_FIXES],
  ] as const) {
    const fixes = db
      .selectFrom('fixes')
      .select('id')
      .where('signature', '=', signature)
      .where('refused', operator, null);
    await db
      .deleteFrom('fixes')
      .where('signature', '=', signature)
      .where('refused', operator, null)
      .where('id', 'not in', fixes.orderBy('savedAt', 'desc').orderBy('id').limit(max))
      .execute();
  }
}
