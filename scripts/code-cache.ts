import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const script = fileURLToPath(new URL('code-cache-process.ts', import.meta.url))
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href

/** Settings of the program, and flags with which V8 would not accept the code cache later. */
const settings = /^(?:MICWATCH|NODE)_/

/**
 * Writes the code cache of the program in the folder `dist` (see src/start.ts) for the Node.js `node`. Throws if the
 * program cannot run.
 */
export function writeCodeCache(dist: string, node = process.execPath): void {
  // Empty, so that neither a configuration file nor data are found.
  const cwd = mkdtempSync(join(tmpdir(), 'micwatch-build-'))
  try {
    execFileSync(node, ['--import', tsx, script, pathToFileURL(join(dist, '/')).href], {
      cwd,
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !settings.test(name))),
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: 60_000,
    })
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}
