import type { FullConfig, Reporter, Suite, TestError } from '@playwright/test/reporter';

/** How a project of the suite starts its browser, without anything that JSON cannot represent. */
export interface ListedBrowser {
  readonly browserName: string;
  readonly channel?: string | undefined;
  readonly headless?: boolean | undefined;
  readonly launchOptions?: Readonly<Record<string, unknown>> | undefined;
  /** The project connects to a browser that is started elsewhere. */
  readonly isRemote: boolean;
}

/**
 * A reporter for `playwright test --list` that writes one line: the number of tests, and the browsers that their
 * projects start. The line has a marker, since the config's own output may come before it.
 */
export default class ListProjects implements Reporter {
  private readonly errors: string[] = [];
  private suite: Suite | null = null;

  onBegin(_config: FullConfig, suite: Suite): void {
    this.suite = suite;
  }

  onError(error: TestError): void {
    this.errors.push(error.message ?? error.value ?? 'unknown error');
  }

  onEnd(): void {
    const projects = (this.suite?.suites ?? []).filter((one) => one.allTests().length > 0);
    const listed = {
      tests: this.suite?.allTests().length ?? 0,
      errors: this.errors,
      browsers: projects.flatMap((one) => {
        const use = one.project()?.use;
        return use ? [browserOf(use)] : [];
      }),
    };
    process.stdout.write(`\nself-heal-listed: ${JSON.stringify(listed)}\n`);
  }

  printsToStdio(): boolean {
    return true;
  }
}

type Use = NonNullable<ReturnType<Suite['project']>>['use'];

function browserOf(use: Use): ListedBrowser {
  const { browserName, defaultBrowserType, channel, headless, launchOptions, connectOptions } = use;
  return {
    browserName: browserName ?? defaultBrowserType ?? 'chromium',
    channel,
    headless,
    launchOptions,
    isRemote: connectOptions !== undefined,
  };
}
