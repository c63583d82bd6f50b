const install = 'it decides what an install does';

/**
 * Files that no fix may change, in any folder and whatever failed: what git, an install, CI, a shell, an editor or a coding agent executes on
 * a machine without being asked to, and what decides what a test is. A name that ends in `/` is a folder with all that is in it; `*` stands
 * for anything but a slash.
 */
const table: Readonly<Record<string, string>> = {
  'it configures self-heal': 'agents.yaml agents.yml',
  'the folder belongs to self-heal': '.self-heal/',
  'it is a Playwright config': '*playwright*.config.*',
  'Playwright itself judges the tests': `
    node_modules/playwright* node_modules/@playwright* *patches/playwright* *patches/@playwright*`,
  'it belongs to git': `
    .git/ .git .gitmodules .gitattributes .gitignore .gitconfig .husky/ .githooks/ .lefthook* .lefthook/
    lefthook*.yml lefthook*.yaml lefthook*.toml lefthook*.json .pre-commit-config.yaml
    .pre-commit-hooks.yaml .lintstagedrc* lint-staged.config.* .simple-git-hooks.* simple-git-hooks.*
    .huskyrc* husky.config.* .overcommit.yml`,
  [install]: `
    .npmrc .yarnrc .yarnrc.yml .pnpmfile.*js pnpmfile.*js pnpm-workspace.yaml bunfig.toml binding.gyp
    .yarn/releases/ .yarn/plugins/ .yarn/sdks/ .pnp.* .bundle/ pip.conf .cargo/ lerna.json rush.json
    setup.py`,
  'CI executes it': `
    .github/ .gitea/ .forgejo/ .gitlab/ *.gitlab-ci.yml *.gitlab-ci.yaml .gitlab-ci* .circleci/ .buildkite/
    .azure-pipelines/ .azuredevops/ azure-pipelines* Jenkinsfile* *.jenkinsfile .jenkins/
    bitbucket-pipelines.y*ml .travis.y*ml .drone.* appveyor.y*ml .appveyor.y*ml .woodpecker* .woodpecker/
    .teamcity/ .semaphore/ .cirrus.* .tekton/ cloudbuild.y*ml buildspec*.y*ml .build.y*ml .builds/ .ci/
    .harness/ .codefresh/ codefresh.y*ml wercker.y*ml screwdriver.yaml Earthfile dagger.json .dagger/
    action.y*ml renovate.json* .renovaterc* netlify.toml vercel.json .releaserc* release.config.* Makefile
    GNUmakefile justfile .justfile Taskfile*.y*ml`,
  'a shell or a tool of its kind executes it': `
    .envrc mise*.toml .mise*.toml .mise/ .config/mise/ .tool-versions .autoenv* .rtx.toml devbox.json
    flake.nix flake.lock shell.nix default.nix devenv.nix devenv.yaml .bashrc .bash_profile .profile .zshrc
    .zshenv .zprofile .direnv/ .direnvrc`,
  'an editor executes it': `
    .vscode/ .idea/ .fleet/ .zed/ .vs/ .nova/ .devcontainer/ .devcontainer*.json *.code-workspace
    *.sublime-project .exrc .nvimrc .nvim.lua .vimrc .lvimrc .dir-locals*.el .gitpod.y*ml .gitpod.dockerfile
    .idx/ .replit .theia/`,
  'a coding agent takes it for its instructions, or executes it': `
    .mcp.json mcp.json .claude/ .claude.json CLAUDE*.md AGENTS*.md AGENT.md GEMINI.md .cursor/ .cursorrules
    .codex/ .gemini/ .opencode/ opencode.json* .copilot/ .windsurf/ .windsurfrules .clinerules .clinerules/
    .roo/ .roomodes .aider* .continue/ .kiro/ .amazonq/ .junie/ .agents/ .agent/ .augment/ .qwen/ .goose*`,
};

/** What names the packages of an install, and what their versions: packages may be added by name, where both change together. */
const manifests = `
    package.json composer.json Gemfile pyproject.toml Pipfile Cargo.toml go.mod deno.json requirements*.txt`;
const lockFiles = `
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock composer.lock
    Gemfile.lock poetry.lock uv.lock Pipfile.lock Cargo.lock go.sum`;

/** Some file systems ignore case, and Windows dots and spaces at the end of a name. */
function matcherOf(names: string): (file: string) => boolean {
  const sources = names
    .trim()
    .split(/\s+/)
    .map((name) => {
      const source = name
        .replace(/\/$/, '')
        .replaceAll('.', String.raw`\.`)
        .replaceAll('*', '[^/]*');
      return `${source}[. ]*${name.endsWith('/') ? '/' : '(?:$|/)'}`;
    });
  const pattern = new RegExp(`(?:^|/)(?:${sources.join('|')})`, 'i');
  return (file) => pattern.test(file);
}

const reasons = Object.entries(table).map(([why, names]) => [why, matcherOf(names)] as const);

/** Returns why no fix may change a file, as a sentence without its period; null if one may. Paths have forward slashes. */
export function protectedReason(file: string): string | null {
  return reasons.find(([, isMeant]) => isMeant(file))?.[0] ?? null;
}

/** Whether a file names the packages that an install takes. */
export const isManifest = matcherOf(manifests);

/** Whether a file says which versions of packages an install takes, and where from. */
export const isLockFile = matcherOf(lockFiles);

/** The same for who sees a fix without what was there before: nobody can say then whether its packages are those that were meant. */
export function unpublishableReason(file: string): string | null {
  return protectedReason(file) ?? (isManifest(file) || isLockFile(file) ? install : null);
}
