/** One file of each protected kind: it runs automatically on a developer's or CI machine, or configures the tests. */
export const protectedFiles = `
  .github/workflows/own.yml packages/a/.github/actions/x/action.yml .gitea/workflows/own.yaml
  .forgejo/workflows/x.yml .gitlab-ci.yml ci/lint.gitlab-ci.yml .buildkite/pipeline.yml Jenkinsfile
  deploy/Jenkinsfile.nightly .circleci/config.yml azure-pipelines.yml Makefile .npmrc web/.npmrc .NPMRC
  .npmrc. .yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml patches/playwright-core+1.50.0.patch
  node_modules/@playwright/test/index.js .yarn/releases/y.cjs .husky/pre-commit app/.husky/_/h .gitmodules
  docs/.gitattributes lefthook.yml .Git/config .mcp.json web/.mcp.json .claude/settings.json CLAUDE.md
  api/AGENTS.md .cursor/mcp.json .vscode/tasks.json web/.vscode/settings.json .idea/workspace.xml
  .devcontainer/devcontainer.json .envrc api/.envrc mise.toml .tool-versions agents.yaml web/agents.yml
  .readthedocs.yaml web/amplify.yml .lfsconfig QWEN.md .rules src/.github/copilot-instructions.md .kilocodemodes
  docs/team.instructions.md .zuul.d/x.yaml fly.toml .bash_login Claude.MD .ｇithub/workflows/x.yml .git\u200Battributes
  .GitHub/x.yml GITHUB~1/workflows/x.yml api/PACKAG~1.JSO GITLAB~1.YML MAKEFI~1 .npmrc::$DATA
  .self-heal/x playwright.config.ts e2e/playwright.ci.config.mts playwright-ct.config.js`
  .trim()
  .split(/\s+/);

/** App files with names similar to protected ones. */
export const ordinaryFiles = `
  src/github/workflows.ts src/mcp.ts docs/claude.md.ts src/husky.ts src/agents.yaml.ts vite.config.ts
  tsconfig.json src/playwright.ts src/.env.example makefile.ts vscode/a.ts src/rules.ts backup.ts~ a~1b.ts src/fly.ts`
  .trim()
  .split(/\s+/);
