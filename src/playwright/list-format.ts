import { z } from 'zod';

/** How a project of the suite starts its browser, without anything that JSON cannot represent. */
const listedBrowser = z.object({
  browserName: z.string(),
  channel: z.string().optional(),
  headless: z.boolean().optional(),
  launchOptions: z.record(z.string(), z.unknown()).optional(),
  /** The project connects to a browser that is started elsewhere. */
  isRemote: z.boolean(),
});

export type ListedBrowser = z.infer<typeof listedBrowser>;

/** What `inject/list-projects.ts` writes about a suite. */
export const listedTests = z.object({
  tests: z.number(),
  errors: z.array(z.string()),
  browsers: z.array(listedBrowser),
});
