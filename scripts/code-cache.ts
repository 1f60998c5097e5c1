import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { buildSync } from 'esbuild'

const script = fileURLToPath(new URL('code-cache-process.ts', import.meta.url))

/** Settings of the program, and flags with which V8 would not accept the code cache later. */
const settings = /^(?:MICWATCH|NODE)_/

/**
 * Writes the code cache of the program in the folder `dist` (see src/start.ts) for the Node.js `node` to the folder
 * `into`. Throws if the program cannot run.
 */
export function writeCodeCache(dist: string, { node = process.execPath, into = dist } = {}): void {
  // Contains nothing else, so that neither a configuration file nor data are found.
  const cwd = mkdtempSync(join(tmpdir(), 'micwatch-build-'))
  try {
    const outfile = join(cwd, 'code-cache-process.mjs')
    buildSync({ entryPoints: [script], outfile, bundle: true, platform: 'node', target: 'node20', format: 'esm' })
    const folders = [dist, into].map((folder) => pathToFileURL(join(folder, '/')).href)
    execFileSync(node, [outfile, ...folders], {
      cwd,
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !settings.test(name))),
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: 60_000,
    })
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}
