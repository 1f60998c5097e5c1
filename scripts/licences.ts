/** Collects the licences of third-party packages that are included in the build. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns name, version and licence text of each package that contains one of `files` (paths relative to `root`). */
export function licencesOf(files: Iterable<string>, root: string): string {
  const folders = new Set<string>()
  for (const file of files) {
    const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? []
    if (folder !== undefined) folders.add(folder)
  }
  const texts = [...folders].sort().map((folder) => licenceOf(join(root, folder)))
  return ['Micwatch includes these packages.', ...new Set(texts)].join(`\n\n${'-'.repeat(80)}\n\n`)
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
  const licenceText = file === undefined ? '' : readFileSync(join(folder, file), 'utf8')
  return `${name} ${version} (${license ?? 'no licence stated'})\n\n${licenceText.trim()}`.trim()
}
