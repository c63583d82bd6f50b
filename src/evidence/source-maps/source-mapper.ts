import { type TraceMap, isIgnored, originalPositionFor, sourceContentFor } from '@jridgewell/trace-mapping';
import { applyReplacements } from '../../replacements.js';
import type { EvidenceNotes } from '../bounded-text.js';
import type { ProjectFiles } from '../project-files.js';
import { rewriteProjectPaths } from '../project-paths.js';
import type { SourceExcerpts } from '../source-excerpts.js';
import { type CodeSources, findMap, type MapLookup, parseUrl } from './find-map.js';
import { type Frame, findFrames } from './frames.js';
import { type OriginalFile, findOriginalFile } from './original-file.js';

/** The original position of a frame of generated code. */
interface Origin extends OriginalFile {
  readonly line: number;
  /** Counted from 1. */
  readonly column: number;
  /** The source's text according to the map, or null. */
  readonly content: string | null;
  /** True if the text named a different position. */
  readonly hasMoved: boolean;
  /** True if the position comes from a source map. */
  readonly isMapped: boolean;
}

const MAX_FRAMES = 1_000;
/** Limits the lookups for one failure, because their maps stay in memory. */
const MAX_LOOKUPS = 64;
/** An address that already names a source: `webpack://app/./src/a.tsx?abcd`. */
const sourceAddress = /^(?:webpack|turbopack|rspack):\/\//;

export interface SourceMapperOptions {
  readonly sources: CodeSources;
  /** The file of the failed test, relative to the project's root; null if the suite itself failed. */
  readonly testFile: string | null;
  readonly excerpts: SourceExcerpts;
  readonly notes: EvidenceNotes;
  /** True for a URL of the app; frames of third-party scripts stay as they are. */
  readonly isOwn: (url: string) => boolean;
}

/**
 * Rewrites the stack frames in one failure's texts to their original files (EV-6), and adds excerpts for the first frame of the user's own code
 * in each text and for the test's line that called it. Looks up each map once, and notes missing ones. Never throws.
 */
export class SourceMapper {
  readonly #options: SourceMapperOptions;
  readonly #files: ProjectFiles;
  readonly #lookups = new Map<string, MapLookup>();
  #frames = 0;

  constructor(options: SourceMapperOptions) {
    this.#options = options;
    this.#files = options.sources.files;
  }

  /**
   * Returns the text with `src/form.tsx:12:5` in place of each `http://localhost/assets/index-4f2a.js:1:2345` whose map
   * is known. Names the package's file in frames in packages, and marks frames that the map lists as ignored. Paths are
   * relative to the project's root.
   */
  mapText(written: string): string {
    const text = rewriteProjectPaths(written, this.#files, this.#options.excerpts);
    let [hasExcerpt, hasTestLine, hasServed] = [false, false, false];
    const replacements = findFrames(text, this.#files.root).flatMap((frame) => {
      const { start, end } = frame;
      const origin = this.#findOrigin(frame);
      if (origin === null) hasServed ||= this.#keepServedExcerpt(frame);
      if (origin === null) return [];
      if (this.#isContradictedByFile(text.slice(0, start), frame, origin))
        return [{ start, end, text: `${origin.name}:?:?` }];
      const { isOwn, name, line, column, file, content } = origin;
      const isTestFile = name === this.#options.testFile;
      if (isOwn && (!hasExcerpt || (isTestFile && !hasTestLine))) {
        [hasExcerpt, hasTestLine] = [true, hasTestLine || isTestFile];
        const generated = `${frame.address}:${frame.line}:${frame.column}`;
        this.#options.excerpts.add(
          { name, line, column },
          generated,
          (file && this.#files.readText(file)) ?? content,
        );
      }
      const shownName = isOwn || !looksLikeOwnCode(name) ? name : `ignore-listed:${name}`;
      return origin.hasMoved ? [{ start, end, text: `${shownName}:${line}:${column}` }] : [];
    });
    return applyReplacements(text, replacements);
  }

  #findOrigin(frame: Frame): Origin | null {
    this.#frames += 1;
    if (this.#frames > MAX_FRAMES) return null;
    const address = frame.address.replace(/#.*$/, '');
    if (sourceAddress.test(address)) return this.#findOriginByName(frame, address, true);
    if (/^https?:/.test(address) && !this.#options.isOwn(address)) return null;
    const lookup = this.#lookUpMap(address);
    if (lookup.kind === 'mapped') return this.#findOriginByMap(lookup.map, frame);
    // Rewrites a path with a space, because later steps would not recognize it as a position.
    return lookup.kind === 'as-written'
      ? this.#findOriginByName(frame, lookup.file, /^https?:|[\s()]/.test(address))
      : null;
  }

  #findOriginByMap(map: TraceMap, frame: Frame): Origin | null {
    const { source, line, column } = originalPositionFor(map, {
      line: frame.line,
      column: Math.max(0, frame.column - 1),
    });
    // A broken map may refer to a source that it does not list.
    if (!source || line < 1 || column < 0) return null;
    const content = sourceContentFor(map, source);
    const file = findOriginalFile(source, content, this.#files);
    const isOwn = file?.isOwn === true && !isIgnored(map, source);
    return file && { ...file, isOwn, line, column: column + 1, content, hasMoved: true, isMapped: true };
  }

  #findOriginByName({ line, column }: Frame, name: string, hasMoved: boolean): Origin | null {
    const file = findOriginalFile(name, null, this.#files);
    return file && { ...file, line, column, content: null, hasMoved, isMapped: false };
  }

  #lookUpMap(address: string): MapLookup {
    const cached = this.#lookups.get(address);
    if (cached || this.#lookups.size >= MAX_LOOKUPS) return cached ?? { kind: 'unknown', because: null };
    const lookUpMap = findMap(address, this.#options.sources);
    this.#lookups.set(address, lookUpMap);
    if (lookUpMap.kind === 'unknown' && lookUpMap.because !== null)
      this.#options.notes.noteMissing(`no source map for ${address}: ${lookUpMap.because}`);
    return lookUpMap;
  }

  /** True if no map confirms a position, and the file has other code there, as after Vite's server has transformed a module. */
  #isContradictedByFile(before: string, frame: Frame, { isOwn, file, isMapped }: Origin): boolean {
    const code = isOwn && !isMapped && file !== null ? this.#files.readText(file) : null;
    return code !== null && !canBeFrame(code, frame, before);
  }

  /** Keeps an excerpt of the served code, which at least shows the call if there is no map. Returns true if it kept one. */
  #keepServedExcerpt({ address, line, column }: Frame): boolean {
    const { sources, isOwn } = this.#options;
    const url = parseUrl(address);
    const content = url && isOwn(url.href) ? sources.scripts.get(url.href)?.text : undefined;
    if (!url || content === undefined) return false;
    this.#options.excerpts.add(
      { name: url.pathname.slice(1), line, column },
      `${address}:${line}:${column}`,
      content,
    );
    return true;
  }
}

/** Code that cannot throw: a blank line, a comment, a closing bracket. */
const codeThatCannotThrow = /^\s*(?:$|\/\/|\/?\*|[\])};,]+\s*$)/;
const moduleStatement = /^\s*(?:import\b(?!\s*\()|export\s+(?:\*|type\b|interface\b|\{))/;
/** The beginning of a frame inside a function, as opposed to module code during loading. */
const functionFrame = /\bat (?:async )?(?!Object\.<anonymous>|<anonymous>|eval\b|Module\b)[\w$.<>]+ \($/;
/** An identifier that an exception mentions, in the text before the first frame of its stack. */
const exceptionName =
  /(?:\(reading '([\w$]{1,80})'\)|\b([\w$]{1,80}) is not a function|\b([\w$]{1,80}) is not defined)[^\n]*\n[^\n]*$/;

/** False if a frame cannot be at this position, judging by the line of code and the exception's message. */
function canBeFrame(code: string, { line, column }: Frame, before: string): boolean {
  const content = code.split(/\r\n?|\n/)[line - 1];
  if (content === undefined || column > content.length + 1 || codeThatCannotThrow.test(content)) return false;
  if (moduleStatement.test(content) && functionFrame.test(before.slice(-200))) return false;
  const name = exceptionName.exec(before.slice(-600))?.slice(1).find(Boolean);
  // If the name occurs nowhere in the file, the code computes it.
  return name === undefined || content.includes(name) || content.includes('[') || !code.includes(name);
}

/** True if a reader could take this name for the user's own code. */
function looksLikeOwnCode(name: string): boolean {
  return !/^(?:\/|[A-Za-z]:)|(?:^|\/)node_modules\/|^webpack\//.test(name);
}
