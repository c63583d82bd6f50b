import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Redactor } from '../../secrets/redactor.js';
import { withoutSignals } from '../../core/fenced.js';
import { clipMiddle } from '../clip.js';
import { asData } from '../evidence-files.js';
import { MissingEvidence } from '../missing-evidence.js';
import type { EvidenceLimits } from '../page-evidence.js';
import { accessibilityTree } from './accessibility-tree.js';
import { actionList } from './action-list.js';
import { cleanPage, type PageDom } from './dom.js';
import { copyMasked } from './masked-trace.js';
import { pageHtml } from './page-html.js';
import { readLinesOf } from './read-trace.js';
import { traceFiles } from '../trace-files.js';

const kib = 1024;
const most = { actions: 96 * kib, tree: 64 * kib, html: 256 * kib };

/** The trace of a failed test, and where to write what it shows. */
export interface TraceToShow {
  readonly trace: string;
  /** The failure's own folder, which exists. */
  readonly folder: string;
  /** The project's root, to which places in the code are relative. */
  readonly root: string;
  readonly limits: EvidenceLimits;
  readonly redactor: Redactor;
}

/**
 * Writes what a trace shows as masked files into a failure's folder, for agents and people: the trace itself for Playwright's own tools, and
 * what is in it: what the test did and saw, and its page before and after the action at which it failed. What cannot be masked is left out.
 */
export async function writeTraceFiles({ trace, folder, root, limits, redactor }: TraceToShow): Promise<void> {
  const clean = (text: string) => withoutSignals(redactor.clean(text));
  const missing = new MissingEvidence(clean);
  const write = (name: string, text: string, bytes: number) =>
    writeFileSync(path.join(folder, name), asData(clipMiddle(clean(text), bytes).text, name));
  await missing.attempt(traceFiles.trace, async () => {
    const file = path.join(folder, traceFiles.trace);
    await copyMasked(trace, file, redactor);
    const { reading, requests } = await readLinesOf({ file, limits, missing });
    const { actions, pages } = reading;
    const console = reading.console.take(missing);
    const happened = { actions: actions.all, failing: actions.failing(), console, network: requests };
    write(traceFiles.actions, actionList(happened, root), most.actions);
    const writePage = (page: PageDom | null, names: { tree: string | null; html: string }) => {
      if (page === null) return;
      const cleaned = cleanPage(page.root, clean);
      if (names.tree !== null) write(names.tree, accessibilityTree(cleaned), most.tree);
      write(names.html, `<!-- ${page.url} -->\n${pageHtml(cleaned, most.html)}`, most.html);
    };
    writePage(pages.before(), { tree: traceFiles.treeBefore, html: traceFiles.htmlBefore });
    // Its accessibility tree is part of the evidence.
    writePage(pages.after(), { tree: null, html: traceFiles.html });
  });
}
