/** Collects the licences of third-party packages that are included in the build. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the folders of the packages that contain one of `files`. */
export function packageFolders(files: Iterable<string>): string[] {
  const folders = new Set<string>()
  for (const file of files) {
    const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? []
    if (folder !== undefined) folders.add(folder)
  }
  return [...folders].sort()
}

/** Returns name, version and licence text of the package in each of `folders` (relative to `root`). */
export function licencesOf(folders: readonly string[], root: string): string {
  const texts = folders.map((folder) => licenceOf(join(root, folder)))
  return ['Micwatch includes these packages.', ...new Set(texts)].join(`\n\n${'-'.repeat(80)}\n\n`)
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder)
    .sort()
    .find((name) => /^licen[cs]e/i.test(name))
  const licenceText = file === undefined ? '' : readFileSync(join(folder, file), 'utf8')
  return `${name} ${version} (${license ?? 'no licence stated'})\n\n${licenceText.trim()}`.trim()
}
