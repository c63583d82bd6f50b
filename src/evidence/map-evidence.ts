import { createOwnUrlCheck } from '../urls.js';
import {
  type ConsoleEntry,
  type Evidence,
  hasFailed,
  isErrorEntry,
  type NetworkEntry,
} from '../model/evidence.js';
import type { TestError } from '../model/failure.js';
import type { FetchedScript } from '../playwright/suite-run.js';
import { cleanAndClip, mapParts, type TextParts, type TextPart, type EvidenceNotes } from './bounded-text.js';
import { relativePath } from '../paths.js';
import { ParsedMaps } from './source-maps/source-map.js';
import { ProjectFiles } from './project-files.js';
import { SourceExcerpts } from './source-excerpts.js';
import { SourceMapper } from './source-maps/source-mapper.js';

/** The parts of the evidence that contain stack frames. */
export type MappedEvidence = Pick<
  Evidence,
  'errors' | 'console' | 'network' | 'serverOutput' | 'serverLines'
>;

export interface MappingRequest {
  /** The project's root. */
  readonly root: string;
  /** The repository or workspace around the project. No file outside of it is read; default: `root`. */
  readonly workspaceDir?: string | undefined;
  /** The file of the failed test, as an absolute path; absent if the suite itself failed. */
  readonly testFile?: string | undefined;
  readonly pageUrl: string | null;
  readonly scripts: readonly FetchedScript[];
  /** Source maps already read for other failures of the run. */
  readonly maps?: ParsedMaps | undefined;
}

type MapPart = (text: string, part: TextPart) => string;

/**
 * Rewrites every stack in the evidence to name the user's source files instead of bundled and transpiled code (EV-6). Cleans the result again, because
 * source maps are as untrusted as the page.
 */
export function mapEvidence(
  evidence: MappedEvidence,
  request: MappingRequest,
  notes: EvidenceNotes,
): MappedEvidence & Pick<Evidence, 'sources'> {
  const files = new ProjectFiles(request.root, request.workspaceDir);
  const maps = request.maps ?? new ParsedMaps();
  const scripts = new Map(request.scripts.map((script) => [script.url, script]));
  const isOwnUrl = createOwnUrlCheck({ ...evidence, pageUrl: request.pageUrl });
  const excerpts = new SourceExcerpts();
  const mapper = new SourceMapper({
    sources: { files, scripts, maps },
    testFile: request.testFile === undefined ? null : relativePath(request.root, request.testFile),
    excerpts,
    notes,
    isOwn: isOwnUrl,
  });
  const map: MapPart = (text, part) => {
    const mapped = mapper.mapText(text);
    return mapped === text ? text : cleanAndClip(mapped, part, notes);
  };
  // Page errors come first: excerpts are limited, and frequent messages must not use them up.
  const console = mapConsole(evidence.console, map);
  return {
    console,
    errors: evidence.errors.map((error) => mapError(error, map)),
    serverOutput: map(evidence.serverOutput, 'serverOutput'),
    ...(evidence.serverLines
      ? {
          serverLines: evidence.serverLines.map((line) => ({ ...line, text: map(line.text, 'consoleText') })),
        }
      : {}),
    network: evidence.network.map((entry) => mapResponse(entry, map)),
    sources: excerpts.listExcerpts(),
  };
}

function mapConsole(entries: readonly ConsoleEntry[], map: MapPart): ConsoleEntry[] {
  const mapped = new Map<ConsoleEntry, ConsoleEntry>();
  const alarming = entries.filter(isErrorEntry);
  for (const entry of [...alarming, ...entries])
    if (!mapped.has(entry)) mapped.set(entry, mapEntry(entry, map));
  return entries.map((entry) => mapped.get(entry) ?? entry);
}

function mapEntry(entry: ConsoleEntry, map: MapPart): ConsoleEntry {
  const parts: TextParts<ConsoleEntry> = { stack: 'consoleStack', text: 'consoleText' };
  // The location of a failed request is its URL, not a position in code.
  const isCode = !entry.text.startsWith('Failed to load resource');
  return mapParts(entry, isCode ? { ...parts, location: 'url' } : parts, map);
}

function mapError(error: TestError, map: MapPart): TestError {
  const parts = { message: 'errorText', stack: 'errorText' } as const;
  return { ...mapParts(error, parts, map), causes: error.causes.map((cause) => map(cause, 'cause')) };
}

/** Development servers answer a failed request with the stack of their own error. */
function mapResponse(entry: NetworkEntry, map: MapPart): NetworkEntry {
  return hasFailed(entry) ? mapParts(entry, { responseBody: 'body' }, map) : entry;
}
