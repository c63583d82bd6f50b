import { type TraceMap, isIgnored, originalPositionFor, sourceContentFor } from '@jridgewell/trace-mapping';
import type { SourceExcerpt } from '../../model/evidence.js';
import { cleanText, type MissingEvidence, clipMiddle } from '../bounded-text.js';
import { type MapLookup, findMap, type MapPlaces, urlOf } from './find-map.js';
import { type OriginalFile, originalFile } from './original-file.js';
import { type Frame, framesIn } from './parse-frames.js';
import type { ProjectFiles } from './project-files.js';
import path from 'node:path';
import { compiledPositions } from '../../diagnose/server-frame.js';

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
const mostExcerpts = 60;
/** Of how many positions in compiled languages in one text the lines are kept: the one that decides is not always the first. */
const mostCompiled = 5;
/** An address that already names a source: `webpack://app/./src/a.tsx?abcd`. */
const original = /^(?:webpack|turbopack|rspack):\/\//;

/** What a mapper needs to know about one failure. */
export interface SourceMapperOptions {
  readonly places: MapPlaces;
  readonly missing: MissingEvidence;
  /** Whether a URL belongs to the app; third-party scripts are left as they are. */
  readonly own: (url: string) => boolean;
}

/**
 * Rewrites the frames in one failure's texts to their original files (EV-6), and keeps the lines around the first frame
 * of the user's own code in each text. Looks up each map once and reports missing ones. Never throws.
 */
export class SourceMapper {
  readonly #options: SourceMapperOptions;
  readonly #lookups = new Map<string, MapLookup>();
  readonly #excerpts = new Map<string, SourceExcerpt>();
  #frames = 0;

  constructor(options: SourceMapperOptions) {
    this.#options = options;
  }

  /** The lines around the first own frame of each mapped text; at most 60 excerpts. */
  get excerpts(): SourceExcerpt[] {
    return [...this.#excerpts.values()];
  }

  /**
   * Returns the text with `src/form.tsx:12:5` in place of each `http://localhost/assets/index-4f2a.js:1:2345` whose map
   * is known. Names frames of packages by the package's file, and marks those that the map lists as ignored. Paths are
   * relative to the project's root.
   */
  mapText(written: string): string {
    const { files } = this.#options.places;
    const text = this.#withCompiledFiles(fromRoot(written, files));
    const parts: string[] = [];
    let from = 0;
    let sought = true;
    let served = true;
    for (const frame of framesIn(text, files.root)) {
      const origin = this.#originOf(frame);
      if (origin === null) {
        served &&= !this.#keepServed(frame);
        continue;
      }
      if (this.#isElsewhere(text, frame, origin)) {
        parts.push(text.slice(from, frame.start), `${origin.name}:?:?`);
        from = frame.end;
        continue;
      }
      if (origin.own && sought) {
        sought = false;
        this.#keepExcerpt(frame, origin);
      }
      if (!origin.moved) continue;
      const name = origin.own || !isOwnLooking(origin.name) ? origin.name : `ignore-listed:${origin.name}`;
      parts.push(text.slice(from, frame.start), `${name}:${origin.line}:${origin.column}`);
      from = frame.end;
    }
    return parts.join('') + text.slice(from);
  }

  /** Whether a position that no map confirms is one in other code than the file has, as in a module that Vite transformed for its server. */
  #isElsewhere(text: string, frame: Frame, { own, file, mapped }: Origin): boolean {
    if (!own || file === null || mapped) return false;
    const code = this.#options.places.files.text(file);
    return code !== null && !agrees(code, frame, text.slice(0, frame.start));
  }

  /** Names files in compiled languages by their path in the project, and keeps the lines around the first of them. */
  #withCompiledFiles(text: string): string {
    const { files } = this.#options.places;
    const parts: string[] = [];
    let [from, kept] = [0, 0];
    for (const { at, start, end } of compiledPositions(text)) {
      // A position in a text ends at whitespace, and the project's own path may contain some.
      const rooted = text.lastIndexOf(`${files.workspace}/`, start);
      const whole = rooted >= from && !/[\n:]/.test(text.slice(rooted, end)) ? rooted : start;
      const name = compiledName(text.slice(whole, end), text.slice(Math.max(0, whole - 400), whole), files);
      if (name === null) continue;
      const [line = 1, column = 1] = at.split(':').map(Number);
      if ((kept += 1) <= mostCompiled)
        this.#keep(`${name}:${at}`, `${name}:${at}`, files.text(name), { line, column });
      parts.push(text.slice(from, whole), name);
      from = end;
    }
    return parts.join('') + text.slice(from);
  }

  #originOf(frame: Frame): Origin | null {
    this.#frames += 1;
    if (this.#frames > mostFrames) return null;
    const address = frame.address.replace(/#.*$/, '');
    const { own } = this.#options;
    if (original.test(address)) return this.#asNamed(frame, address, true);
    if (/^https?:/.test(address) && !own(address)) return null;
    const found = this.#lookup(address);
    // A path with a space would not be recognized as a position in later processing.
    if (found.kind === 'as-written') return this.#asNamed(frame, found.file, /^https?:|[\s()]/.test(address));
    if (found.kind === 'mapped') return this.#traced(found.map, frame);
    return null;
  }

  #traced(map: TraceMap, frame: Frame): Origin | null {
    const position = originalPositionFor(map, { line: frame.line, column: Math.max(0, frame.column - 1) });
    // A broken map may refer to a source that it does not have.
    if (!position.source || position.line < 1 || position.column < 0) return null;
    const content = sourceContentFor(map, position.source);
    const file = originalFile(position.source, content, this.#options.places.files);
    if (file === null) return null;
    const own = file.own && !isIgnored(map, position.source);
    return {
      ...file,
      own,
      line: position.line,
      column: position.column + 1,
      content,
      moved: true,
      mapped: true,
    };
  }

  #asNamed({ line, column }: Frame, name: string, moved: boolean): Origin | null {
    const file = originalFile(name, null, this.#options.places.files);
    return file && { ...file, line, column, content: null, moved, mapped: false };
  }

  #lookup(address: string): MapLookup {
    const known = this.#lookups.get(address);
    if (known || this.#lookups.size >= mostLookups) return known ?? { kind: 'unknown', because: null };
    const found = findMap(address, this.#options.places);
    this.#lookups.set(address, found);
    if (found.kind === 'unknown' && found.because !== null)
      this.#options.missing.miss(`no source map for ${address}: ${found.because}`);
    return found;
  }

  /**
   * For a build without a map, keeps an excerpt of the served code, which at least shows the call. Returns whether there
   * is one.
   */
  #keepServed(frame: Frame): boolean {
    const { places, own } = this.#options;
    const url = urlOf(frame.address);
    if (url === null || url.protocol === 'file:' || !own(url.href)) return false;
    const content = places.scripts.get(url.href)?.text;
    if (content === undefined) return false;
    const { address, line, column } = frame;
    this.#keep(`${url.pathname.slice(1)}:${line}:${column}`, `${address}:${line}:${column}`, content, frame);
    return true;
  }

  #keepExcerpt(frame: Frame, { name, line, column, file, content }: Origin): void {
    const text = (file === null ? null : this.#options.places.files.text(file)) ?? content;
    const generated = `${frame.address}:${frame.line}:${frame.column}`;
    this.#keep(`${name}:${line}:${column}`, generated, text, { line, column });
  }

  #keep(
    place: string,
    generated: string,
    text: string | null,
    { line, column }: Pick<Frame, 'line' | 'column'>,
  ): void {
    const at = cleanText(place);
    if (this.#excerpts.size >= mostExcerpts || this.#excerpts.has(at)) return;
    const snippet = text === null ? null : snippetOf(text, line, column);
    this.#excerpts.set(at, { at, generated: cleanText(generated), snippet: snippet && cleanText(snippet) });
  }
}

/** What a stack of the JVM has before the name of a file: `at app//com.shop.Cart.total(`. */
const jvmFrame = /\bat (?:[\w.@-]*\/){0,2}((?:[\w$]{1,100}\.){1,20})[\w$]{1,100}\.[\w$<>]{1,100}\($/;

/** A relative path starts at the folder in which the compiler ran; a JVM names only the file, after its package. */
function compiledName(file: string, before: string, files: ProjectFiles): string | null {
  const folder = jvmFrame.exec(before)?.[1]?.replaceAll('.', '/') ?? '';
  const place = folder === '' ? files.find(file) : null;
  const only = path.isAbsolute(file) ? null : files.only(folder + file);
  const found = place ?? only;
  return found && files.relative(found);
}

/** Code from which no exception comes: a blank line, a comment, a closing bracket. */
const silent = /^\s*(?:$|\/\/|\/?\*|[\])};,]+\s*$)/;
const importing = /^\s*(?:import\b(?!\s*\()|export\s+(?:\*|type\b|interface\b|\{))/;
/** The beginning of a frame within a function, rather than of a module that is being loaded. */
const inFunction = /\bat (?:async )?(?!Object\.<anonymous>|<anonymous>|eval\b|Module\b)[\w$.<>]+ \($/;
/** What an exception says that the line has, in the text before the first frame of its stack. */
const named =
  /(?:\(reading '([\w$]{1,80})'\)|\b([\w$]{1,80}) is not a function|\b([\w$]{1,80}) is not defined)[^\n]*\n[^\n]*$/;

/** Whether the code at a position can be what a frame is about, as far as its line and the exception before it say. */
function agrees(code: string, { line, column }: Frame, before: string): boolean {
  const lines = code.split(/\r\n?|\n/);
  const there = lines[line - 1];
  if (there === undefined || column > there.length + 1 || silent.test(there)) return false;
  if (importing.test(there) && inFunction.test(before.slice(-200))) return false;
  const name = named.exec(before.slice(-600))?.slice(1).find(Boolean);
  if (name === undefined || there.includes(name) || there.includes('[')) return true;
  // A name that the file does not have at all is computed.
  return !code.includes(name);
}

/** Whether a reader could mistake a name that is not the user's own code for one that is. */
function isOwnLooking(name: string): boolean {
  return !/^(?:\/|[A-Za-z]:)|(?:^|\/)node_modules\/|^webpack\//.test(name);
}

const around = 2;
const longestLine = 200;

/**
 * Returns the numbered lines around a position (line and column from 1), its own line marked with `>` and, if it is
 * long, cut to what surrounds the column; null if there is no such line.
 */
function snippetOf(text: string, line: number, column: number): string | null {
  const lines = text.split(/\r\n?|\n/);
  if (line < 1 || line > lines.length) return null;
  const first = Math.max(1, line - around);
  const last = Math.min(lines.length, line + around);
  const width = String(last).length;
  return lines
    .slice(first - 1, last)
    .map((content, at) => {
      const n = first + at;
      const part = n === line ? aroundColumn(content, column) : clipMiddle(content, longestLine).text;
      const shown = part.replaceAll('\n', ' ');
      return `${n === line ? '>' : ' '} ${String(n).padStart(width)} | ${shown}`.trimEnd();
    })
    .join('\n');
}

function aroundColumn(content: string, column: number): string {
  if (content.length <= longestLine) return content;
  const from = Math.max(0, Math.min(column - longestLine / 2, content.length - longestLine));
  const part = content.slice(from, from + longestLine);
  return `${from > 0 ? '…' : ''}${part}${from + longestLine < content.length ? '…' : ''}`;
}

const code =
  /(?<=^|[\s"'`(])(?:\.\/)?((?:[\w.@+-]{1,100}\/){1,20}[\w.@+[\]-]{1,100}\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx|s?css|sass|less))(?=["'`):\s(]|$)/gm;
const mostPaths = 200;

/**
 * Rewrites paths that a tool printed relative to a folder of the project or its workspace (a package's `vite build`) to start at the
 * project's root. Leaves a path unchanged if it exists at the root, in several such folders or in none.
 */
function fromRoot(text: string, files: ProjectFiles): string {
  const known = new Map<string, string>();
  return text.replace(code, (whole, named: string) => {
    const place = known.get(named) ?? (known.size < mostPaths ? placeOf(named) : named);
    known.set(named, place);
    return place === named ? whole : place;
  });

  function placeOf(named: string): string {
    if (named.includes('node_modules/') || files.find(named) !== null) return named;
    const place = files.only(named);
    return (place && files.relative(place)) ?? named;
  }
}
