import { sql } from 'kysely';
import { flakeRecordShape, type FlakeRecord, type Store } from './store.js';
import { parseRow, type StoreContext, maskText } from './tables.js';

/** The part of the store that counts the red and green runs of flaky tests. */
export function createFlakeTable({
  db,
  project,
  now,
}: StoreContext): Pick<Store, 'recordFlake' | 'listFlakes'> {
  return {
    recordFlake: async ({ testId, name, kind, red, green }) => {
      const lastSeen = now();
      await db
        .insertInto('flakes')
        .values({ project, testId, name: maskText(name), kind, red, green, lastSeen })
        .onConflict((conflict) =>
          conflict.columns(['project', 'testId']).doUpdateSet({
            name: maskText(name),
            kind: sql`coalesce(excluded.kind, flakes.kind)`,
            red: sql`flakes.red + excluded.red`,
            green: sql`flakes.green + excluded.green`,
            lastSeen,
          }),
        )
        .execute();
    },
    listFlakes: async () => {
      const rows = await db.selectFrom('flakes').selectAll().where('project', '=', project).execute();
      const failureRate = ({ red, green }: FlakeRecord) => red / (red + green);
      return rows
        .map((row) => parseRow(flakeRecordShape, row))
        .toSorted((a, b) => failureRate(b) - failureRate(a) || b.red - a.red);
    },
  };
}
