/** Checks shell scripts with ShellCheck. */

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../../test/support/debian-package.ts'

/** Returns the problems of a script, one a line. Without `shell`, its first line names the shell. */
export async function lintShell(name: string, text: string, shell?: 'bash'): Promise<string[]> {
  const shellcheck = await findProgram('shellcheck', 'shellcheck')
  const args = ['--external-sources', '--format=gcc', ...(shell === undefined ? [] : [`--shell=${shell}`]), '-']
  const { stdout, stderr } = spawnSync(shellcheck, args, { input: text, encoding: 'utf8' })
  return `${stdout}${stderr}`
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^-(:\d+):\d+/, `${name}$1`))
}

/** Returns the files below the folders that begin with the name of a shell. */
export function findShellScripts(folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => /^#!.*\b(ba)?sh\b/.test(readFileSync(path, 'latin1').slice(0, 100)))
      .sort(),
  )
}
