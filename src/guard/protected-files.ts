import { foldName } from '../paths.js';

const install = 'it controls what an install does';

/**
 * Files that no fix may change, in any folder and for any failure: files that git, an install, CI, a shell, an editor or a coding agent executes
 * automatically, and files that define the tests. A name that ends in `/` is a folder with all its contents; `*` matches anything but a slash.
 *
 * The names come from each tool's documentation of the files that it reads automatically. The tools are, for CI, the vendors of
 * https://github.com/watson/ci-info; for hosts, https://docs.netlify.com/build/configure-builds/file-based-configuration/ and its counterparts; for
 * agents, https://agents.md and the table of https://github.com/intellectronica/ruler.
 */
const table: Readonly<Record<string, string>> = {
  'it configures self-heal': 'agents.yaml agents.yml',
  'the folder belongs to self-heal': '.self-heal/',
  'it is a Playwright config': '*playwright*.config.*',
  'it belongs to Playwright, which judges the tests': `
    node_modules/playwright* node_modules/@playwright* *patches/playwright* *patches/@playwright*`,
  'it belongs to git': `
    .git/ .git .gitmodules .gitattributes .gitignore .gitconfig .lfsconfig .husky/ .githooks/ .lefthook* .lefthook/
    lefthook*.yml lefthook*.yaml lefthook*.toml lefthook*.json .pre-commit-config.yaml
    .pre-commit-hooks.yaml prek.toml .lintstagedrc* lint-staged.config.* .simple-git-hooks.* simple-git-hooks.*
    .huskyrc* husky.config.* .overcommit.yml captainhook.json grumphp.yml .rusty-hook.toml .hg/ .jj/ .svn/`,
  [install]: `
    .npmrc .yarnrc .yarnrc.yml .pnpmfile.*js pnpmfile.*js pnpm-workspace.yaml bunfig.toml binding.gyp
    .yarn/releases/ .yarn/plugins/ .yarn/sdks/ .pnp.* .bundle/ .gemrc pip.conf .pypirc .cargo/ lerna.json rush.json
    setup.py sitecustomize.py usercustomize.py .mvn/ gradle/wrapper/ nuget.config`,
  'CI executes it': `
    .github/ .gitea/ .forgejo/ .gitlab/ *.gitlab-ci.yml *.gitlab-ci.yaml .gitlab-ci* .circleci/ .buildkite/
    .azure-pipelines/ .azuredevops/ azure-pipelines* Jenkinsfile* *.jenkinsfile .jenkins/
    bitbucket-pipelines.y*ml .travis.y*ml .drone.* appveyor.y*ml .appveyor.y*ml .woodpecker* .woodpecker/
    .teamcity/ .semaphore/ .cirrus.* .tekton/ cloudbuild.y*ml buildspec*.y*ml .build.y*ml .builds/ .ci/
    .harness/ .codefresh/ codefresh.y*ml wercker.y*ml screwdriver.yaml Earthfile dagger.json .dagger/
    .zuul.* .zuul.d/ zuul.y*ml zuul.d/ bitrise.y*ml codemagic.y*ml .vela.y*ml .sail.y*ml .taskcluster.y*ml
    .mergify.y*ml .prow.y*ml .prow/ action.y*ml renovate.json* .renovaterc* .releaserc* release.config.* Makefile
    GNUmakefile justfile .justfile Taskfile*.y*ml`,
  'a host builds or deploys with it': `
    netlify.toml .netlify/ vercel.json .vercel/ now.json .readthedocs.y*ml amplify.y*ml .amplify/ render.yaml
    fly.toml railway.json railway.toml nixpacks.toml heroku.yml Procfile* wrangler.toml wrangler.json* .platform/
    .platform.app.yaml .upsun/ .ebextensions/ .elasticbeanstalk/ .do/ firebase.json .firebaserc apprunner.yaml`,
  'a shell or a similar tool executes it': `
    .envrc mise*.toml .mise*.toml .mise/ .config/mise/ .tool-versions .prototools .autoenv* .rtx.toml devbox.json
    flake.nix flake.lock shell.nix default.nix devenv.nix devenv.yaml pixi.toml .bashrc .bash_profile .bash_login
    .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .inputrc .direnv/ .direnvrc .gdbinit
    .lldbinit .irbrc .pryrc .Rprofile .Renviron .psqlrc .sqliterc .my.cnf .curlrc .wgetrc .tmux.conf .ssh/`,
  'an editor executes it': `
    .vscode/ .idea/ .run/ .fleet/ .zed/ .vs/ .nova/ .helix/ .settings/ .devcontainer/ .devcontainer*.json
    *.code-workspace *.sublime-project .exrc .nvimrc .nvim.lua .vimrc .lvimrc .vimspector.json .ycm_extra_conf.py
    .dir-locals*.el .gitpod.y*ml .gitpod.dockerfile .idx/ .replit .theia/ .codesandbox/ .stackblitzrc .trunk/`,
  'a coding agent reads it as instructions, or executes it': `
    .mcp.json mcp.json .mcp/ .claude/ .claude.json CLAUDE*.md AGENTS*.md AGENT.md GEMINI*.md QWEN.md WARP.md CRUSH.md
    JULES.md IFLOW.md SKILL.md replit.md copilot-instructions.md *.instructions.md .rules .cursor/ .cursorrules
    .codex/ .gemini/ .opencode/ opencode.json* .copilot/ .windsurf/ .windsurfrules .codeium/ .clinerules .clinerules/
    .roo/ .roomodes .roorules* .kilocode/ .kilocodemodes .kilocoderules .aider* .continue/ .continuerules .kiro/
    .amazonq/ .junie/ .agents/ .agent/ .agents.md .augment/ .augment-guidelines .qwen/ .goose* .crush/ .crush.json
    crush.json .trae/ .factory/ .openhands/ .openhands_instructions .amp/ .rovodev/ .jules/ .firebender/
    firebender.json .zencoder/ .devin/ .cody/ .tabnine/ .pearai/ .void/ .iflow/ .ruler/ .coderabbit.y*ml
    .pr_agent.toml .sweep* sweep.yaml ellipsis.y*ml .bugbot* .skills/`,
};

/** Files that name the packages to install; `lockFiles` lock their versions. A fix may add packages if it changes both. */
const manifests = `
    package.json composer.json Gemfile pyproject.toml Pipfile Cargo.toml go.mod deno.json requirements*.txt`;
const lockFiles = `
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock composer.lock
    Gemfile.lock poetry.lock uv.lock Pipfile.lock Cargo.lock go.sum`;

/** Compares names without case, because some file systems ignore it. */
function createMatcher(names: string): (file: string) => boolean {
  const sources = names
    .trim()
    .split(/\s+/)
    .map((name) => {
      const source = name
        .replace(/\/$/, '')
        .toLowerCase()
        .replaceAll('.', String.raw`\.`)
        .replaceAll('*', '[^/]*');
      return `${source}${name.endsWith('/') ? '/' : '(?:$|/)'}`;
    });
  const pattern = new RegExp(`(?:^|/)(?:${sources.join('|')})`);
  return (file) => pattern.test(file.split('/').map(foldName).join('/'));
}

/** Windows' short names, such as `GITHUB~1`, which are aliases of longer names. */
const shortName = /(?:^|\/)[^/.~]{1,6}~\d{1,6}(?:\.[^/.]{0,3})?[. ]*(?:$|\/)/;

const reasons = Object.entries(table).map(([why, names]) => [why, createMatcher(names)] as const);

/** Returns why no fix may change a file, as a sentence without its period; null if one may. Paths have forward slashes. */
export function explainProtection(file: string): string | null {
  if (shortName.test(file)) return 'its name may be the short form of another name';
  return reasons.find(([, isProtected]) => isProtected(file))?.[0] ?? null;
}

/** True if a file lists the packages to install. */
export const isManifest = createMatcher(manifests);

/** True if a file locks the versions and sources of packages. */
export const isLockFile = createMatcher(lockFiles);

/** Like `explainProtection`, for a patch from elsewhere, which may not change the installed packages either, because nobody here can judge them. */
export function explainUnpublishable(file: string): string | null {
  return explainProtection(file) ?? (isManifest(file) || isLockFile(file) ? install : null);
}
