import { type TraceMap, isIgnored, originalPositionFor, sourceContentFor } from '@jridgewell/trace-mapping';
import { withReplacements } from '../../replacements.js';
import type { EvidenceNotes } from '../bounded-text.js';
import type { ProjectFiles } from '../project-files.js';
import { withProjectPaths } from '../project-paths.js';
import type { SourceExcerpts } from '../source-excerpts.js';
import { type CodeSources, findMap, type MapLookup, urlOf } from './find-map.js';
import { type Frame, framesIn } from './frames.js';
import { type OriginalFile, originalFile } from './original-file.js';

/** The original position of a frame of generated code. */
interface Origin extends OriginalFile {
  readonly line: number;
  /** Counted from 1. */
  readonly column: number;
  /** The source's text according to the map, or null. */
  readonly content: string | null;
  /** Whether the text named a different position. */
  readonly moved: boolean;
  /** Whether a source map says so. */
  readonly mapped: boolean;
}

const mostFrames = 1_000;
/** The maximum number of addresses to look up for one failure; their maps stay in memory meanwhile. */
const mostLookups = 64;
/** An address that already names a source: `webpack://app/./src/a.tsx?abcd`. */
const original = /^(?:webpack|turbopack|rspack):\/\//;

/** What a mapper needs to know about one failure. */
export interface SourceMapperOptions {
  readonly sources: CodeSources;
  readonly excerpts: SourceExcerpts;
  readonly missing: EvidenceNotes;
  /** Whether a URL belongs to the app; third-party scripts are left as they are. */
  readonly own: (url: string) => boolean;
}

/**
 * Rewrites the frames in one failure's texts to their original files (EV-6), and keeps the lines around the first frame
 * of the user's own code in each text. Looks up each map once and reports missing ones. Never throws.
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
   * is known. Names frames of packages by the package's file, and marks those that the map lists as ignored. Paths are
   * relative to the project's root.
   */
  mapText(written: string): string {
    const text = withProjectPaths(written, this.#files, this.#options.excerpts);
    let [hasExcerpt, hasServed] = [false, false];
    const replacements = framesIn(text, this.#files.root).flatMap((frame) => {
      const { start, end } = frame;
      const origin = this.#originOf(frame);
      if (origin === null) hasServed ||= this.#keepServed(frame);
      if (origin === null) return [];
      if (this.#contradicts(text.slice(0, start), frame, origin))
        return [{ start, end, text: `${origin.name}:?:?` }];
      const { own, name, line, column, file, content } = origin;
      if (own && !hasExcerpt) {
        hasExcerpt = true;
        const generated = `${frame.address}:${frame.line}:${frame.column}`;
        this.#options.excerpts.add(
          { name, line, column },
          generated,
          (file && this.#files.text(file)) ?? content,
        );
      }
      const shownName = own || !isOwnLooking(name) ? name : `ignore-listed:${name}`;
      return origin.moved ? [{ start, end, text: `${shownName}:${line}:${column}` }] : [];
    });
    return withReplacements(text, replacements);
  }

  #originOf(frame: Frame): Origin | null {
    this.#frames += 1;
    if (this.#frames > mostFrames) return null;
    const address = frame.address.replace(/#.*$/, '');
    if (original.test(address)) return this.#asNamed(frame, address, true);
    if (/^https?:/.test(address) && !this.#options.own(address)) return null;
    const lookup = this.#lookup(address);
    if (lookup.kind === 'mapped') return this.#traced(lookup.map, frame);
    // A path with a space would not be recognized as a position in later processing.
    return lookup.kind === 'as-written'
      ? this.#asNamed(frame, lookup.file, /^https?:|[\s()]/.test(address))
      : null;
  }

  #traced(map: TraceMap, frame: Frame): Origin | null {
    const { source, line, column } = originalPositionFor(map, {
      line: frame.line,
      column: Math.max(0, frame.column - 1),
    });
    // A broken map may refer to a source that it does not have.
    if (!source || line < 1 || column < 0) return null;
    const content = sourceContentFor(map, source);
    const file = originalFile(source, content, this.#files);
    const own = file?.own === true && !isIgnored(map, source);
    return file && { ...file, own, line, column: column + 1, content, moved: true, mapped: true };
  }

  #asNamed({ line, column }: Frame, name: string, moved: boolean): Origin | null {
    const file = originalFile(name, null, this.#files);
    return file && { ...file, line, column, content: null, moved, mapped: false };
  }

  #lookup(address: string): MapLookup {
    const known = this.#lookups.get(address);
    if (known || this.#lookups.size >= mostLookups) return known ?? { kind: 'unknown', because: null };
    const lookup = findMap(address, this.#options.sources);
    this.#lookups.set(address, lookup);
    if (lookup.kind === 'unknown' && lookup.because !== null)
      this.#options.missing.miss(`no source map for ${address}: ${lookup.because}`);
    return lookup;
  }

  /** Whether no map confirms a position and the file has other code there, as for a module that Vite transformed for its server. */
  #contradicts(before: string, frame: Frame, { own, file, mapped }: Origin): boolean {
    const code = own && !mapped && file !== null ? this.#files.text(file) : null;
    return code !== null && !agrees(code, frame, before);
  }

  /** For a build without a map, keeps an excerpt of the served code, which at least shows the call. Returns whether there is one. */
  #keepServed({ address, line, column }: Frame): boolean {
    const { sources, own } = this.#options;
    const url = urlOf(address);
    const content = url && own(url.href) ? sources.scripts.get(url.href)?.text : undefined;
    if (!url || content === undefined) return false;
    this.#options.excerpts.add(
      { name: url.pathname.slice(1), line, column },
      `${address}:${line}:${column}`,
      content,
    );
    return true;
  }
}

/** Code from which no exception comes: a blank line, a comment, a closing bracket. */
const silent = /^\s*(?:$|\/\/|\/?\*|[\])};,]+\s*$)/;
const importing = /^\s*(?:import\b(?!\s*\()|export\s+(?:\*|type\b|interface\b|\{))/;
/** The beginning of a frame within a function, rather than of a module that is being loaded. */
const inFunction = /\bat (?:async )?(?!Object\.<anonymous>|<anonymous>|eval\b|Module\b)[\w$.<>]+ \($/;
/** The name that an exception says its line has, in the text before the first frame of its stack. */
const namedByException =
  /(?:\(reading '([\w$]{1,80})'\)|\b([\w$]{1,80}) is not a function|\b([\w$]{1,80}) is not defined)[^\n]*\n[^\n]*$/;

/** Whether the code at a position can be what a frame is about, as far as its line and the exception before it say. */
function agrees(code: string, { line, column }: Frame, before: string): boolean {
  const content = code.split(/\r\n?|\n/)[line - 1];
  if (content === undefined || column > content.length + 1 || silent.test(content)) return false;
  if (importing.test(content) && inFunction.test(before.slice(-200))) return false;
  const name = namedByException.exec(before.slice(-600))?.slice(1).find(Boolean);
  // A name that the file does not have at all is computed.
  return name === undefined || content.includes(name) || content.includes('[') || !code.includes(name);
}

/** Whether a reader could mistake a name that is not the user's own code for one that is. */
function isOwnLooking(name: string): boolean {
  return !/^(?:\/|[A-Za-z]:)|(?:^|\/)node_modules\/|^webpack\//.test(name);
}
