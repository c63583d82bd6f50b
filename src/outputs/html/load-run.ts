import path from 'node:path';
import type { DiagnosedFailure } from '../../model/cause.js';
import { readFailureRecords } from '../../run/failure-record.js';
import { readPatch } from '../../run/read-patch.js';
import { afterName, comparisonNames, readPicture, type Picture } from '../../run/pictures.js';
import type { Report, ReportCause } from '../../run/report.js';
import type { CauseState, RunState } from '../../run/run-state.js';
import type { Redactor } from '../../secrets/redactor.js';
import { counted } from '../../format.js';
import { type RunView, createView } from '../view.js';

/** Everything that a run's page shows, read from its folder. */
export interface LoadedRun {
  readonly report: Report;
  /** The run's folder as shown to the user. */
  readonly folder: string;
  readonly causes: ReadonlyMap<string, LoadedCause>;
  readonly view: RunView;
}

/** The contents of a run's folder for one cause; missing files are null or absent. */
export interface LoadedCause {
  /** The failure that represents the cause. */
  readonly lead: DiagnosedFailure | null;
  /** The URL of the screenshot at the failure: `data:image/png;base64,…` in a standalone page. */
  readonly before: string | null;
  /** The URL of the screenshot from its last green run. */
  readonly after: string | null;
  /** The URLs of a screenshot comparison's expected picture, and of the picture of the difference. */
  readonly expected: string | null;
  readonly difference: string | null;
  /** The texts of its attempts' patches, by path. */
  readonly patches: ReadonlyMap<string, string>;
  /** Its state in a run in progress; null after the run has ended. */
  readonly progress: 'working' | 'waiting' | null;
  /** Sentences about waits and about heals in earlier runs, which the report does not contain. */
  readonly notes: readonly string[];
}

/** The maximum total size of the pictures in one page, in bytes of base64; further pictures are shown by their path. */
const PICTURE_BYTES = 16 * 1024 * 1024;

/** Returns the URL of a picture for the page; null if the page cannot have it. */
type PictureUrl = (picture: Picture) => Promise<string | null>;

export interface RunLocation {
  /** Absolute. */
  readonly dir: string;
  /** The same folder as shown to the user. */
  readonly displayDir: string;
  /** Masks the files again, because a run from another machine did not know this machine's secrets (EV-9). */
  readonly redactor?: Pick<Redactor, 'deep' | 'text'>;
}

/**
 * Reads the contents of a run's page. Skips missing files, so that the report never fails because of them. Embeds the pictures in a standalone
 * page; a live page loads them from `pictureUrl`.
 */
export async function loadRun(
  report: Report,
  run: RunState,
  { dir, displayDir, redactor = unchanged, pictureUrl }: RunLocation & { readonly pictureUrl?: PictureUrl },
): Promise<LoadedRun> {
  const getUrl = pictureUrl ?? createEmbedder(dir);
  const states = new Map(run.causes.map((state) => [state.id, state]));
  const leads = new Set(report.causes.map(({ evidence }) => Number(path.posix.basename(evidence))));
  const failures = redactor.deep((await readFailureRecords(dir, { only: leads })).failures);
  const causes = new Map<string, LoadedCause>();
  for (const cause of report.causes) {
    const lead = failures.find(({ n }) => cause.evidence === `failures/${n}`) ?? null;
    const name = path.basename((lead?.evidence.screenshot ?? '').replaceAll('\\', '/'));
    const before = lead && name !== '' ? await getUrl({ n: lead.n, name }) : null;
    const [expected, difference] = comparisonNames.map((name) => (lead ? getUrl({ n: lead.n, name }) : null));
    const comparison = { expected: (await expected) ?? null, difference: (await difference) ?? null };
    const hasAfterPicture = lead && before !== null && cause.verdict === 'healed';
    const after = hasAfterPicture ? await getUrl({ n: lead.n, name: afterName }) : null;
    const state = states.get(cause.id);
    const isUnfinished = pictureUrl && !run.ended && state && !state.ended;
    const progress = isUnfinished ? (state.phase ? 'working' : 'waiting') : null;
    const notes = redactor.deep(state?.notes.map(formatNote) ?? []);
    const patches = readPatches(dir, cause, redactor);
    causes.set(cause.id, { lead, before, after, ...comparison, patches, progress, notes });
  }
  return { report, folder: displayDir, causes, view: createView(report) };
}

const unchanged: NonNullable<RunLocation['redactor']> = { deep: (value) => value, text: (text) => text };

function formatNote(event: CauseState['notes'][number]): string {
  return event.type === 'agent.retrying'
    ? `waited ${counted(Math.ceil(event.delayMs / 1000), 'second')}: ${event.reason}`
    : 'An earlier run healed a failure with the same error.';
}

function readPatches(
  dir: string,
  { attempts }: Pick<ReportCause, 'attempts'>,
  redactor: Pick<Redactor, 'text'>,
): Map<string, string> {
  const patches = attempts.flatMap(({ patch }) => {
    const text = readPatch(dir, patch, redactor);
    return patch !== null && text !== null ? [[patch, text] as const] : [];
  });
  return new Map(patches);
}

/** Returns a function that embeds pictures in the page as long as there is room. */
function createEmbedder(dir: string): PictureUrl {
  let room = PICTURE_BYTES;
  return async (request) => {
    const read = readPicture(dir, request);
    const picture = read && `data:${read.type};base64,${read.bytes.toString('base64')}`;
    if (picture === null || picture.length > room) return null;
    room -= picture.length;
    return picture;
  };
}
