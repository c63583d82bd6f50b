import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { readFailureRecords } from '../../run/failure-record.js';
import { afterName, readPicture, type Picture } from '../../inspect/pictures.js';
import type { Report, ReportCause } from '../../run/report.js';
import type { LoadedCause, LoadedRun } from './loaded-run.js';
import { readRunState } from '../../run/read-events.js';
import { timelineOf } from './show-timeline.js';

/** The maximum total size of the pictures in one page, in bytes of base64; further pictures are shown by their path. */
const PICTURE_BYTES = 16 * 1024 * 1024;
/** A longer patch is cut, since nobody reads it in a report. */
const PATCH_BYTES = 200 * 1024;

/** Returns the URL of a picture for the page; null if the page cannot have it. */
export type AddressOf = (picture: Picture) => Promise<string | null>;

/** Where a run's files are. */
export interface RunPlace {
  /** Absolute. */
  readonly dir: string;
  /** The same folder as shown to the user. */
  readonly shown: string;
}

/** Reads what the page of a run shows. Missing files are left out, because they must not make the report fail. */
export async function loadRun(
  report: Report,
  { dir, shown }: RunPlace,
  addressOf: AddressOf = embedded(dir),
): Promise<LoadedRun> {
  const leads = new Set(report.causes.map(({ evidence }) => Number(path.posix.basename(evidence))));
  const { failures } = await readFailureRecords(dir, leads);
  const causes = new Map<string, LoadedCause>();
  for (const cause of report.causes) {
    const lead = failures.find(({ n }) => cause.evidence === `failures/${n}`) ?? null;
    const name = path.basename((lead?.evidence.screenshot ?? '').replaceAll('\\', '/'));
    const before = lead && name !== '' ? await addressOf({ n: lead.n, name }) : null;
    const shows = lead && before !== null && cause.verdict === 'healed';
    const after = shows ? await addressOf({ n: lead.n, name: afterName }) : null;
    causes.set(cause.id, { lead, before, after, patches: await patchesOf(dir, cause) });
  }
  const tests = new Map(report.tests.map((test) => [test.id, test]));
  return { report, folder: shown, timeline: timelineOf(await readRunState(dir)), causes, tests };
}

async function patchesOf(dir: string, { attempts }: ReportCause): Promise<Map<string, string>> {
  const patches = new Map<string, string>();
  for (const { patch } of attempts) {
    if (patch === null || !/^attempts\/\d+\.patch$/.test(patch)) continue;
    const text = await readFile(path.join(dir, patch), 'utf8').catch(() => null);
    if (text !== null) patches.set(patch, text.slice(0, PATCH_BYTES));
  }
  return patches;
}

/** Embeds pictures in the page as long as there is room. */
function embedded(dir: string): AddressOf {
  let room = PICTURE_BYTES;
  return async (asked) => {
    const read = await readPicture(dir, asked);
    const picture = read && `data:${read.type};base64,${read.bytes.toString('base64')}`;
    if (picture === null || picture.length > room) return null;
    room -= picture.length;
    return picture;
  };
}
